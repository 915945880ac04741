import {
  type DiscoverMessage,
  nothingMatches,
  type OnDiscoverMessage,
} from '../../protocol/discover-messages.ts';
import { endpoints } from '../../protocol/endpoints.ts';
<<<<<<< HEAD
import type { CommandContext } from '../command.ts';
import { type AskOptions, ask } from '../send/ask.ts';
import { type ReceivedAnswer, readRefusal } from '../send/report.ts';
=======
import { maxLimit } from '../../rules/discover/page-answer.ts';
import { type CommandContext, CommandError } from '../command.ts';
import { chooseAddress } from '../send/address.ts';
import { type ListenAddress, listenForCallback } from '../send/callback.ts';
import { exchange, waitForCallback, withRegistry } from '../send/exchange.ts';
import { isAccepted, type ReceivedAnswer, readRefusal, requireAck } from '../send/report.ts';
import { buildRequest, type Draft, prepareDraft } from '../send/request.ts';
import { resolveSigner, type SignerOptions } from '../send/signer.ts';
>>>>>>> p34
import { buildMessage, type IntentOptions, usualMeters } from './intent.ts';
import { renderDistance, renderFound } from './report.ts';

export interface DiscoverOptions extends IntentOptions, AskOptions {
  network?: string;
  schema?: string[];
  to?: string;
  json?: boolean;
  explain?: boolean;
}

export async function discover(
  words: readonly string[],
  options: DiscoverOptions,
  context: CommandContext,
): Promise<void> {
  const message = buildMessage(words, options);
<<<<<<< HEAD
  // What narrows the search as a whole stands in the context.
  const { network, schema, json, near } = options;
  const scope = { ...(network && { networkId: network }), ...(schema && { schemaContext: schema }) };
  if (options.explain) return (await import('./explain.ts')).explain(message, scope, options, context);
  const { consumer, discovery } = context.config().identities;
  const question = {
    ...{ to: options.to ?? discovery.url, action: endpoints.discover.name, as: consumer.id },
    ...{ document: { context: scope, message }, service: 'discovery service', advise },
  };
  const { answer, callback } = await ask(question, options, context);
  if (answer.status === 202) return printNothing(answer, options, context);
  if (!callback) return context.setExitCode(1);
  const found = callback.message as OnDiscoverMessage;
  context.print(json ? JSON.stringify(found, null, 2) : renderFound(found, near));
  if (answer.truncated !== undefined) context.note(cut);
=======
  if (options.explain) {
    const { explain } = await import('./explain.ts');
    return explain(message, buildScope(options), options, context);
  }
  const config = context.config();
  const { consumer, discovery } = config.identities;
  const self = resolveSigner({ ...options, as: options.as ?? consumer.id }, config);
  const draftOf = (asked: DiscoverMessage) =>
    prepareDraft({
      to: options.to ?? discovery.url,
      method: 'POST',
      action: endpoints.discover.name,
      bytes: Buffer.from(JSON.stringify({ context: buildScope(options), message: asked })),
    });
  // The table shows distances, which are only in the answer to a request with a limit. The specification has no limit: a service that refuses it is asked again without one.
  const { near, json, limit, offset } = options;
  const isPagedForDistances = near && !json && limit === undefined && offset === undefined;
  const draft = draftOf(isPagedForDistances ? { ...message, limit: maxLimit } : message);
  await withRegistry(config, async (registry, client) => {
    const address = (await chooseAddress(self, options, registry, config.REGISTRY_NAME)).listen();
    const onRefused = context.note;
    const listener = await listenForCallback({ draft, address, self, registry, config, onRefused });
    const send = async (sent: Draft) => {
      const request = buildRequest(sent, { self, uri: listener.url, now: new Date() });
      await listener.expect(request);
      return { request, answer: await exchange(request, registry, client) };
    };
    try {
      const first = await send(draft);
      const isRefused = first.answer.status === 400 && isPagedForDistances;
      const { request, answer } = isRefused ? await send(draftOf(message)) : first;
      if (!isAccepted(answer)) throw explainRefusal(answer);
      requireAck(request, answer, 'discovery service');
      if (answer.status === 202) return printNothing(answer, options, context);
      const callback = await waitForCallback(listener, request, answer, options.wait, context);
      if (!callback) return context.setExitCode(1);
      print(callback.message as OnDiscoverMessage, options, context);
      if (answer.truncated !== undefined) context.note(cut);
    } finally {
      await listener.close();
    }
  });
>>>>>>> p34
}

const cut =
  'The service cut this answer: there are more. --limit 100 shows how many, --limit and --offset page through them.';

/** Catalog spec, POST /on_discover: its catalogs are never empty, so nothing found is said at once. */
function printNothing(
  { body }: ReceivedAnswer,
  { json, near, within }: DiscoverOptions,
  context: CommandContext,
): void {
  const said = readRefusal(body).reason.replace(nothingMatches, '').trim();
  const nothing = near ? `Nothing found within ${renderDistance(within ?? usualMeters)}.` : 'Nothing found.';
  const text = [nothing, said].filter((part) => part !== '').join('\n');
  context.print(json ? JSON.stringify({ catalogs: [], ...(said && { reason: said }) }, null, 2) : text);
}

function advise(code: string): string {
  if (code === 'SCH_INVALID_JSONPATH')
    return ' Look at --where: strings are quoted, and @ is the resource, as in @.resourceAttributes.type == "EV_CHARGER".';
  if (code.startsWith('AUT_KEY') || code === 'AUT_SUBSCRIBER_NOT_FOUND')
    return ' Is the consumer registered? "signpost up" registers its demo consumer; "signpost registry" registers others.';
  return '';
}
