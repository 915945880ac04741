import type { Command } from 'commander';
import { actions } from '../protocol/actions.ts';
import { nothingMatches, type OnDiscoverMessage } from '../protocol/discover-messages.ts';
import {
  parseCount,
  parseKeyId,
  parseListen,
  parseNetwork,
  parseOffset,
  parseSeconds,
  parseSubscriber,
  parseUrl,
} from './arguments.ts';
import { type CommandContext, CommandError } from './command.ts';
import { explain } from './discover/explain.ts';
import {
  buildMessage,
  collectTargets,
  collectTexts,
  type IntentOptions,
  parseDistance,
  parsePlace,
  usualMeters,
} from './discover/intent.ts';
import { renderDistance, renderFound } from './discover/report.ts';
import { chooseAddress } from './send/address.ts';
import { type ListenAddress, listenForCallback } from './send/callback.ts';
import { exchange, isFromAsked, usualWaitSeconds, waitForCallback, withRegistry } from './send/exchange.ts';
import { isAccepted, type ReceivedAnswer, readRefusal } from './send/report.ts';
import { buildRequest, prepareDraft } from './send/request.ts';
import { resolveSigner, type SignerOptions } from './send/signer.ts';

interface DiscoverOptions extends IntentOptions, Omit<SignerOptions, 'as'> {
  network?: string;
  schema?: string[];
  to?: string;
  as?: string;
  wait: number;
  listen?: ListenAddress;
  uri?: string;
  json?: boolean;
  explain?: boolean;
}

export function registerDiscoverCommand(program: Command, context: CommandContext): void {
  program
    .command('discover')
    .argument('[text...]', 'what to look for, in plain words')
    .option('--near <lat,lon>', 'around this place', parsePlace)
    .option('--within <distance>', 'so far from it, such as 800m, 5km or 3mi (5km)', parseDistance)
    .option(
      '--target <path>',
      'where the place of things stands (their provider, or a charger itself); may be given again',
      collectTargets,
    )
    .option('--where <condition>', 'on a resource, such as @.id == "x", or a whole JSONPath from $')
    .option('--network <id>', 'only in this network', parseNetwork)
    .option('--schema <uri>', 'only of this schema context; may be given again', collectTexts)
    .option('--limit <count>', 'a page of so many resources, 1 to 1000 (without it, up to 1000)', parseCount)
    .option('--offset <count>', 'the page after so many', parseOffset)
    .option(
      '--to <url>',
      'base address of the discovery service (default: the one of this machine)',
      parseUrl,
    )
    .option('--as <subscriber>', 'who asks (default: CONSUMER_ID)', parseSubscriber)
    .option('--key-id <id>', 'name of the key in the registry', parseKeyId)
    .option('--key <file|seed>', 'the private key (default: the one in DATA_DIR/keys)')
    .option('--wait <seconds>', 'how long to wait for the answer', parseSeconds, usualWaitSeconds)
    .option('--listen <address>', 'where to wait for it: host:port', parseListen)
    .option('--uri <url>', 'base address to give as our bapUri', parseUrl)
    .option(
      '--json',
      'print the message of the answer as JSON; bppId of a catalog is the node that publishes it',
    )
    .option('--explain', 'show how it is evaluated instead, on the database of the discovery service')
    .addHelpText('after', examples)
    .action((words: string[], options: DiscoverOptions) => discover(words, options, context));
}

const examples = `
Exit code: 0 also when nothing was found, 1 when refused, not reached, or when the answer did not come.

Examples:
  $ signpost discover fast charger near me --near 12.97,77.59 --within 5km
  $ signpost discover --where '@.resourceAttributes.attributes.ratedPower.value >= 50' --network nfh.global/beckn-nodes
  $ signpost discover charger --near 12.97,77.59 --explain
  $ signpost discover coffee --limit 5 --json | jq '.catalogs[].resources[].id'`;

async function discover(
  words: readonly string[],
  options: DiscoverOptions,
  context: CommandContext,
): Promise<void> {
  const message = buildMessage(words, options);
  if (options.explain) return explain(message, narrowing(options), options, context);
  const config = context.config();
  const { consumer, discovery } = config.identities;
  const self = resolveSigner({ ...options, as: options.as ?? consumer.id }, config);
  const draft = prepareDraft({
    to: options.to ?? discovery.url,
    method: 'POST',
    action: actions.discover.name,
    bytes: Buffer.from(JSON.stringify({ context: narrowing(options), message })),
  });
  await withRegistry(config, async (registry, client) => {
    const address = (await chooseAddress(self, options, registry, config.REGISTRY_NAME)).listen();
    const onRefused = context.note;
    const listener = await listenForCallback({ draft, address, self, registry, config, onRefused });
    try {
      const request = buildRequest(draft, { self, uri: listener.url, now: new Date() });
      await listener.expect(request);
      const answer = await exchange(request, registry, client);
      if (!isAccepted(answer)) throw refused(answer);
      if (answer.status === 202) return printNothing(answer, options, context);
      const callback = await waitForCallback(listener, answer, options.wait, context);
      if (!callback || !isFromAsked(callback, answer, config, context)) return context.setExitCode(1);
      print(callback.message as OnDiscoverMessage, options, context);
    } finally {
      await listener.close();
    }
  });
}

/** What narrows the search as a whole stands in the context. */
function narrowing({ network, schema }: DiscoverOptions) {
  return { ...(network && { networkId: network }), ...(schema && { schemaContext: schema }) };
}

function print(message: OnDiscoverMessage, { json, near }: DiscoverOptions, context: CommandContext): void {
  context.print(json ? JSON.stringify(message, null, 2) : renderFound(message, near));
}

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

function refused({ status, body }: ReceivedAnswer): CommandError {
  const { code, reason } = readRefusal(body);
  const advice = adviceFor(code);
  return new CommandError(
    `The discovery service refused this, ${status} ${code}: ${reason}${advice ? ` ${advice}` : ''}`,
  );
}

function adviceFor(code: string): string | undefined {
  if (code === 'SCH_INVALID_JSONPATH')
    return 'Look at --where: strings are quoted, and @ is the resource, as in @.resourceAttributes.type == "EV_CHARGER".';
  if (code.startsWith('AUT_KEY') || code === 'AUT_SUBSCRIBER_NOT_FOUND')
    return 'Is the consumer registered? "signpost up" registers its demo consumer; "signpost registry" registers others.';
  return undefined;
}
