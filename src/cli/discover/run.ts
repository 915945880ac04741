import {
  type DiscoverMessage,
  nothingMatches,
  type OnDiscoverMessage,
} from '../../protocol/discover-messages.ts';
import { endpoints } from '../../protocol/endpoints.ts';
import { maxLimit } from '../../rules/discover/page-answer.ts';
import { type CommandContext, printResult } from '../command.ts';
import { type AskOptions, ask, Refused } from '../send/ask.ts';
import { type ReceivedAnswer, readRefusal } from '../send/report.ts';
import { buildMessage, type IntentOptions, usualMeters } from './intent.ts';
import { renderDistance, renderFound } from './report.ts';

export interface DiscoverOptions extends IntentOptions, AskOptions {
  network?: string;
  schema?: string[];
  to?: string;
  explain?: boolean;
}

export async function discover(words: readonly string[], options: DiscoverOptions, context: CommandContext) {
  const message = buildMessage(words, options);
  // Limits on the whole search are in the context.
  const { network, schema, near, limit, offset } = options;
  const scope = { ...(network && { networkId: network }), ...(schema && { schemaContext: schema }) };
  if (options.explain) return (await import('./explain.ts')).explain(message, scope, context);
  const { consumer, discovery } = context.config().identities;
  const { to = discovery.url } = options;
  const question = {
    to,
    action: endpoints.discover.name,
    as: consumer.id,
    service: 'discovery service',
    advise: (code: string) => advise(code, message),
  };
  const send = (asked: DiscoverMessage) =>
    ask({ ...question, document: { context: scope, message: asked } }, options, context);
  // The table shows distances, which need a limit in the request. The specification has no limit: a refused request is sent again without one.
  const needsLimit = near && !context.json && limit === undefined && offset === undefined;
  const { answer, callback } = await send(needsLimit ? { ...message, limit: maxLimit } : message).catch(
    (error) => {
      if (needsLimit && error instanceof Refused && error.status === 400) return send(message);
      throw error;
    },
  );
  if (answer.status === 202) return printNothing(answer, options, context);
  if (!callback) return context.setExitCode(1);
  const found = callback.message as OnDiscoverMessage;
  printResult(context, found, renderFound(found, near));
  if (answer.truncated !== undefined) context.note(cut);
}

const cut =
  'The service cut this answer: there are more. --limit 100 shows how many, --limit and --offset page through them.';

/** Catalog spec, POST /on_discover: catalogs are never empty, so an empty list means no hits. */
function printNothing({ body }: ReceivedAnswer, { near, within }: DiscoverOptions, context: CommandContext) {
  const said = readRefusal(body).reason.replace(nothingMatches, '').trim();
  const nothing = near ? `Nothing found within ${renderDistance(within ?? usualMeters)}.` : 'Nothing found.';
  const text = [nothing, said].filter((part) => part !== '').join('\n');
  printResult(context, { catalogs: [], ...(said && { reason: said }) }, text);
}

function advise(code: string, { intent }: DiscoverMessage): string {
  if (code === 'SCH_INVALID_JSONPATH')
    return ` Check --where: strings are quoted, and @ is the resource, as in @.resourceAttributes.type == "EV_CHARGER". The whole expression: ${intent.filters?.expression}`;
  if (code.startsWith('AUT_KEY') || code === 'AUT_SUBSCRIBER_NOT_FOUND')
    return ' Is the consumer registered? "signpost up" registers its demo consumer; "signpost registry" registers others.';
  return '';
}
