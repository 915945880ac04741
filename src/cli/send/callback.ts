import type { AddressInfo } from 'node:net';
import type { Config } from '../../config.ts';
import { type Callback, createArrival, readCallback } from '../../delivery/await-callback.ts';
import { hasCode } from '../../error-code.ts';
import { createMessageIdScanner, type MessageIdScanner } from '../../http/scan-aside.ts';
import { createServer } from '../../http/server.ts';
import { type SignedService, signedRoute } from '../../http/signed-route.ts';
import { silentLogger } from '../../logger.ts';
import { createMetrics } from '../../metrics.ts';
import { ack } from '../../protocol/acknowledgement.ts';
import { actions } from '../../protocol/actions.ts';
import type { SigningKey } from '../../protocol/keys.ts';
import { chainValues } from '../../protocol/request-signature.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { CommandError } from '../command.ts';
import type { Draft, SendableRequest } from './request.ts';

// Waits for the answer to one request, as the node that sent it would: a real server with a real signed route.

export interface ListenAddress {
  host: string;
  port: number;
  /** The base address under which it is reached, when that is not host and port. */
  url?: string;
}

export interface CallbackListener {
  /** What is waited for. */
  action: string;
  /** The base address to give as bapUri or bppUri. */
  url: string;
  /** Says what is going to be sent; until then nothing is expected. */
  expect(request: SendableRequest): Promise<void>;
  /** The callback, or undefined when it did not come in time. */
  wait(seconds: number): Promise<Callback | undefined>;
  close(): Promise<void>;
}

export interface ListenerOptions {
  address: ListenAddress;
  draft: Draft;
  self: SigningKey;
  registry: RegistryClient;
  config: Config;
  /** Told of messages that were refused. */
  onRefused: (what: string) => void;
}

export async function listenForCallback(options: ListenerOptions): Promise<CallbackListener> {
  const { draft, address } = options;
  const action = callbacks.find(({ name }) => name === draft.action?.callback);
  if (!action) {
    throw new CommandError(`${draft.action?.name ?? draft.url} has no callback that --wait could wait for.`);
  }
  let sent: SendableRequest | undefined;
  const arrival = createArrival();
  const server = createServer({
    role: 'send',
    logger: silentLogger(),
    metrics: createMetrics({ process: false }),
    ready: async () => ({}),
  });
  server.addHook('onResponse', async (request) => {
    if (request.refusal) options.onRefused(`Refused ${request.method} ${request.url}: ${request.refusal}.`);
  });
  const scanner = createMessageIdScanner(silentLogger());
  const service = describeService(options, () => sent, scanner);
  const path = `${address.url ? new URL(address.url).pathname.replace(/\/+$/, '') : ''}${action.path}`;
  signedRoute(server, service, { ...action, path }, async (request) => {
    const callback = readCallback(request, sent);
    arrival.arrive(callback);
    return { status: 200, body: ack(callback.context.messageId) };
  });

  const { host, port } = address;
  await server.listen({ host, port }).catch((error: Error) => explainListening(error, address));
  const bound = server.server.address() as AddressInfo;
  return {
    action: action.name,
    url: address.url ?? `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    async expect(request) {
      sent = request;
    },
    wait: arrival.within,
    async close() {
      await server.close();
      await scanner.close();
    },
  };
}

const callbacks = [actions.onPublish, actions.onPull, actions.onDiscover] as const;

function describeService(
  { self, registry, config }: ListenerOptions,
  sent: () => SendableRequest | undefined,
  { scan }: MessageIdScanner,
): SignedService {
  return {
    ...describeReceiver({ self, registry, config }, scan),
    findSentRequest: async (messageId) => {
      const request = sent();
      return request?.messageId === messageId ? chainValues(request.authorization) : [];
    },
    // Only one answer is waited for, and a person looks on: whoever signed it, it is looked into.
    largeCallbacks: { isAwaited: async () => sent() !== undefined, scan },
  };
}

/** A command that receives signed messages: with the limits of the settings, and whatever key the registry knows. */
export function describeReceiver(
  { self, registry, config }: Pick<ListenerOptions, 'self' | 'registry' | 'config'>,
  scan: MessageIdScanner['scan'],
): SignedService {
  return {
    role: 'send',
    self,
    registryName: config.REGISTRY_NAME,
    findKey: registry.findKey,
    findSentRequest: async () => [],
    largeCallbacks: { isAwaited: async () => true, scan },
    limits: {
      clockSkewSeconds: config.CLOCK_SKEW_SECONDS,
      maxSignatureSeconds: config.MAX_SIGNATURE_SECONDS,
      requireCallbackChain: config.REQUIRE_CALLBACK_CHAIN,
      bodyBytes: config.BULK_BODY_SIZE_LIMIT,
      bulkBodyBytes: config.BULK_BODY_SIZE_LIMIT,
    },
    logger: silentLogger(),
  };
}

export function explainListening(error: Error, { host, port }: ListenAddress): never {
  const inUse = hasCode(error, 'EADDRINUSE');
  throw new CommandError(
    inUse
      ? `Cannot wait for the callback at ${host}:${port}: another program listens there. Stop it, give another address with ` +
          '--listen, or sign as an identity without a registered address.'
      : `Cannot wait for the callback at ${host}:${port}: ${error.message}.`,
    error,
  );
}
