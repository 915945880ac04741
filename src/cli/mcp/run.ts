import { join } from 'node:path';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Config } from '../../config.ts';
import { hasCode } from '../../error-code.ts';
import { isThisMachine } from '../../http/local-only.ts';
import { createProxyCheck } from '../../http/source.ts';
import { quote } from '../../mcp/clean.ts';
import { createProver, Signpost } from '../../mcp/client.ts';
import { serveHttp } from '../../mcp/http.ts';
import { createMcpServer } from '../../mcp/server.ts';
import { type McpContext, ToolError } from '../../mcp/tool.ts';
import { publicKeyOf, type SigningKey } from '../../protocol/keys.ts';
import { unusableReason } from '../../protocol/registry-record.ts';
import { type RegistryClient, RegistryUnavailable } from '../../registry/client.ts';
import { loadOrCreateToken } from '../../secret-file.ts';
import { allowsPrivate, type CommandContext, CommandError, explainError } from '../command.ts';
import { untilStopped } from '../interrupt.ts';
import { chooseAddress } from '../send/address.ts';
import { explainListening, type ListenAddress } from '../send/callback.ts';
import { withRegistry } from '../send/exchange.ts';
import { resolveSigner } from '../send/signer.ts';

export interface McpOptions {
  http?: ListenAddress;
  to?: string;
  wait: number;
  listen?: ListenAddress;
}

export async function serveMcp(options: McpOptions, context: CommandContext): Promise<void> {
  const config = context.config();
  const { consumer, discovery } = config.identities;
  const self = resolveSigner({ as: consumer.id }, config);
  const address = await withRegistry(config, (registry) => checkConsumer(self, options, config, registry));
  const to = options.to ?? discovery.url;
  const { http, wait } = options;
  const { signpost, callbacks } = await startConsumer(self, { address, to, wait }, config, context);
  try {
    warnIfUnreachable(callbacks, to, context);
    const tools = createContext({ signpost, callbacks, wait }, config, context);
    await (http ? runHttp(http, tools, config, context) : runStdio(tools, context));
  } finally {
    await signpost.close();
  }
}

/** The registry must list the signing key and the callback address. Otherwise every call would fail without a visible reason. */
async function checkConsumer(
  self: SigningKey,
  { listen }: McpOptions,
  { identities, registryUrl, REGISTRY_NAME }: Config,
  registry: RegistryClient,
): Promise<ListenAddress> {
  const { subscriberId, recordId, privateKey } = self;
  const { url } = identities.consumer;
  const unavailable = `The registry at ${registryUrl} cannot be queried. Start it, or set REGISTRY_URL.`;
  const lookup = registry.lookup(subscriberId, recordId);
  const record = await lookup.catch(explainError(RegistryUnavailable, () => unavailable));
  const register = `Register it: signpost registry register --help. "signpost up" registers its demo consumer.`;
  if (!record)
    throw new CommandError(
      `The registry at ${registryUrl} has no key ${recordId} of ${subscriberId}. ${register}`,
    );
  const unusable = unusableReason(record, new Date());
  if (unusable !== undefined)
    throw new CommandError(`The key ${recordId} of ${subscriberId} cannot be used: ${unusable}. ${register}`);
  if (record.signingPublicKey !== publicKeyOf(privateKey))
    throw new CommandError(
      `The registry has another key as ${recordId} of ${subscriberId} than this machine. ${register}`,
    );
  const registered =
    record.url !== undefined && URL.canParse(record.url) ? new URL(record.url).origin : undefined;
  if (url !== undefined && new URL(url).origin !== registered)
    throw new CommandError(
      `CONSUMER_URL is ${url}, but the registry has ${registered ?? 'no address'} for ${subscriberId}: services would not send answers there. ${register}`,
    );
  return (await chooseAddress(self, { uri: url, listen }, registry, REGISTRY_NAME)).listen();
}

async function startConsumer(
  self: SigningKey,
  { address, to, wait }: { address: ListenAddress; to: string; wait: number },
  config: Config,
  context: CommandContext,
): Promise<{ signpost: Signpost; callbacks: string }> {
  const signpost = new Signpost({
    ...{ id: self.subscriberId, keyId: self.recordId, privateKey: self.privateKey },
    ...{ registry: config.registryUrl, registryName: config.REGISTRY_NAME },
    ...{ callbacks: address.url, discoveryService: to, callbackTimeoutMs: wait * 1_000, retryForMs: 0 },
    requireCallbackChain: config.REQUIRE_CALLBACK_CHAIN,
    logger: { warn: context.note, debug: () => undefined },
  });
  const { host, port } = address;
  const listener = await signpost
    .listen({ host, port })
    .catch((error: Error) => explainListening(error, address));
  return { signpost, callbacks: address.url ?? listener.url };
}

function warnIfUnreachable(callbacks: string, to: string, context: CommandContext): void {
  const isElsewhere = URL.canParse(to) && !isThisMachine(new URL(to).hostname);
  if (isElsewhere && isThisMachine(new URL(callbacks).hostname))
    context.note(
      `Answers are awaited at ${callbacks}, which ${to} cannot reach. Set CONSUMER_URL to a public address of this machine; behind NAT, run "signpost mcp --http" on a server.`,
    );
}

function createContext(
  { signpost, callbacks, wait }: { signpost: Signpost; callbacks: string; wait: number },
  config: Config,
  context: CommandContext,
): McpContext {
  const { registryUrl: registry, REGISTRY_NAME: registryName } = config;
  const allowPrivateAddresses = allowsPrivate(config, context);
  return {
    ...{ signpost, callbacks, note: context.note, now: () => new Date() },
    createProver(cancelled) {
      // Limits the time, because a host that answers slowly, file by file, must not delay the proofs of others.
      const signal = AbortSignal.any([cancelled, AbortSignal.timeout(wait * 1_000)]);
      return createProver({ registry, registryName, allowPrivateAddresses, signal });
    },
    async diagnose(node, { catalogId, network }) {
      const { diagnoseNode } = await import('../doctor/run.ts');
      const asked = { catalog: catalogId, network: network === undefined ? undefined : [network] };
      return diagnoseNode(node, asked, context, () => undefined).catch((error: unknown) => {
        throw error instanceof CommandError ? new ToolError(quote(error.message)) : error;
      });
    },
  };
}

async function runStdio(tools: McpContext, context: CommandContext): Promise<void> {
  const server = createMcpServer(tools);
  const ended = untilStopped();
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  process.stdin.once('end', () => void server.close());
  await server.connect(new StdioServerTransport());
  context.note(`Ready, over standard input and output. Answers are awaited at ${tools.callbacks}.`);
  await Promise.race([closed, ended]);
  await server.close();
}

async function runHttp(http: ListenAddress, tools: McpContext, config: Config, context: CommandContext) {
  const file = join(config.DATA_DIR, 'mcp-token');
  const { token } = loadOrCreateToken(file);
  const { callbacks } = tools;
  // If callbacks arrive from other machines, requests may too, through a proxy without forwarding headers.
  const isLocal = isThisMachine(http.host) && isThisMachine(new URL(callbacks).hostname);
  const endpoint = await serveHttp({
    ...{ host: http.host, port: http.port, token, isLocal },
    isProxy: createProxyCheck(config.TRUSTED_PROXIES),
    createServer: () => createMcpServer(tools),
  }).catch((error: Error) => {
    const reason = hasCode(error, 'EADDRINUSE') ? 'another program listens there' : error.message;
    throw new CommandError(
      `Cannot listen at ${http.host}:${http.port}: ${reason}. Give --http another address.`,
    );
  });
  const { url } = endpoint;
  if (context.json) context.print(JSON.stringify({ url, callbacks, tokenFile: file }));
  else
    context.print(
      `Listening on ${url}. ${isLocal ? 'Programs of this machine need no token. The token for others' : 'The token'} is in ${file}. Answers are awaited at ${callbacks}. Ctrl-C ends it.`,
    );
  await untilStopped();
  await endpoint.close();
}
