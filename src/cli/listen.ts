import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { createMessageIdScanner } from '../http/scan-aside.ts';
import { createServer } from '../http/server.ts';
import { signedRoute, type VerifiedRequest } from '../http/signed-route.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { parseCount, parseListen, parseSubscriber } from './arguments.ts';
import { paint } from './colour.ts';
import type { CommandContext } from './command.ts';
import { describeReceiver, explainListening, type ListenAddress } from './send/callback.ts';
import { withRegistry } from './send/exchange.ts';
import { resolveSigner } from './send/signer.ts';

interface ListenOptions {
  as?: string;
  listen: ListenAddress;
  count?: number;
  json?: boolean;
}

/** Any callback, and pushes. */
const received = [actions.onPublish, actions.onPull, actions.onDiscover, actions.push] as const;

export function registerListenCommand(program: Command, context: CommandContext): void {
  program
    .command('listen')
    .option('--listen <address>', 'host:port', parseListen, { host: '127.0.0.1', port: 5001 })
    .option('--as <subscriber>', 'who acknowledges what comes (default: CONSUMER_ID)', parseSubscriber)
    .option('--count <number>', 'end after so many messages', parseCount)
    .option('--json', 'print each message as one line of JSON')
    .addHelpText('after', help)
    .action((options: ListenOptions) => listen(options, context));
}

const help = `
Takes ${received.map(({ path }) => path).join(', ')}. What verifies is printed and acknowledged, under a signature of ours; what does not is refused, and the
reason told on standard error. A callback that signs the signature of its request can be verified by the sender of that request alone: it is refused
here, and comes again without that.

Exit code: 0 when it was ended by Ctrl-C or --count.

Examples:
  $ signpost listen
  $ signpost send search.json --to http://127.0.0.1:4003 --as consumer.signpost.test --uri http://127.0.0.1:5001
  $ signpost listen --listen :5002 --as discovery.example.org --json | jq .message`;

async function listen(
  { as, listen: address, count, json }: ListenOptions,
  context: CommandContext,
): Promise<void> {
  const config = context.config();
  const self = resolveSigner({ as: as ?? config.identities.consumer.id }, config);
  await withRegistry(config, async (registry) => {
    const server = createServer({
      role: 'listen',
      logger: silentLogger(),
      metrics: createMetrics({ process: false }),
      ready: async () => ({}),
    });
    const scanner = createMessageIdScanner(silentLogger());
    const ended = new AbortController();
    let seen = 0;
    server.addHook('onResponse', async ({ method, url, refusal }) => {
      if (refusal) context.note(`${paint('bad', 'refused')} ${method} ${url}: ${refusal}`);
      else if (seen === count) ended.abort();
    });
    const service = describeReceiver({ self, registry, config }, scanner.scan);
    for (const action of received)
      signedRoute(server, service, action, async (request) => {
        context.print(json ? renderJson(request) : render(request));
        seen += 1;
        return { status: 200, body: ack(request.context.messageId) };
      });
    try {
      await server.listen(address).catch((error: Error) => explainListening(error, address));
      const { port } = server.server.address() as AddressInfo;
      context.note(`Listening on http://${address.host}:${port} as ${self.subscriberId}. Ctrl-C ends it.`);
      await untilEnded(ended);
    } finally {
      await server.close();
      await scanner.close();
    }
  });
}

type Received = VerifiedRequest<(typeof received)[number]>;

function render({ context, message, identity, recordId }: Received): string {
  const { action } = context;
  return [
    `${paint('good', action)} from ${identity}, ${recordId}: the signature holds.`,
    JSON.stringify({ context, message }, null, 2),
    '',
  ].join('\n');
}

function renderJson({ context, message, identity, recordId, receivedAt }: Received): string {
  return JSON.stringify({ receivedAt, signer: identity, recordId, context, message });
}

async function untilEnded(ended: AbortController): Promise<void> {
  const stop = () => ended.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  if (!ended.signal.aborted) await once(ended.signal, 'abort');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
}
