import type { Config } from '../../config.ts';
import { type AwaitedCallback, awaitCallback } from '../../delivery/await-callback.ts';
import {
  type Callback,
  receiveCallback,
  type Waited,
  waitForCallback,
} from '../../delivery/receive-callback.ts';
import { hasCode } from '../../error-code.ts';
import { createBareServer } from '../../http/bare-server.ts';
import { signedLimits } from '../../http/signed-limits.ts';
import { type SignedService, signedRoute } from '../../http/signed-route.ts';
import { ack } from '../../protocol/acknowledgement.ts';
import { actions } from '../../protocol/actions.ts';
import type { SigningKey } from '../../protocol/keys.ts';
import { scanMessageId } from '../../protocol/message-id-scan.ts';
import { chainValues } from '../../protocol/request-signature.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { silentLogger } from '../../silent-logger.ts';
import { CommandError } from '../command.ts';
import type { Draft, SendableRequest } from './request.ts';

// Waits for the answer to one request as its sender, with a real signed route.

export interface ListenAddress {
  host: string;
  port: number;
  /** The public base address, if it is not host and port. */
  url?: string;
}

export interface CallbackListener {
  action: string;
  url: string;
  /** Registers the request; before that, no callback is expected. */
  expect(request: SendableRequest): Promise<void>;
  /** Call it after the acknowledgement. `acknowledgedBy` is its signer, if that is the called service. */
  wait(seconds: number, acknowledgedBy?: string): Promise<Waited>;
  close(): Promise<void>;
}

export interface ListenerOptions {
  address: ListenAddress;
  draft: Pick<Draft, 'action' | 'url'>;
  self: SigningKey;
  registry: RegistryClient;
  config: Config;
  onRefused: (what: string) => void;
}

export async function listenForCallback(options: ListenerOptions): Promise<CallbackListener> {
  const { draft, address } = options;
  const action = callbacks.find(({ name }) => name === draft.action?.callback);
  if (!action) {
    throw new CommandError(`${draft.action?.name ?? draft.url} has no callback that --wait could wait for.`);
  }
  let sent: (SendableRequest & { awaited: AwaitedCallback<Callback> }) | undefined;
  const server = createBareServer(({ method, url, refusal }) => {
    if (refusal) options.onRefused(`Refused ${method} ${url}: ${refusal}.`);
  });
  const service: SignedService = {
    ...describeReceiver(options),
    findSentRequest: async (messageId) =>
      sent?.messageId === messageId ? chainValues(sent.authorization) : [],
    // Only one callback is expected, and a user is waiting: accept large bodies from any signer.
    largeCallbacks: { isAwaited: async () => sent !== undefined, scan },
  };
  const path = `${address.url ? new URL(address.url).pathname.replace(/\/+$/, '') : ''}${action.path}`;
  signedRoute(server, service, { ...action, path }, async (request) => {
    const { messageId } = request.context;
    receiveCallback(request, sent?.messageId === messageId ? sent.awaited : undefined);
    return { status: 200, body: ack(messageId) };
  });

  const { host, port } = address;
  const bound = await server.listen({ host, port }).catch((error: Error) => explainListening(error, address));
  return {
    action: action.name,
    url: address.url ?? `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    async expect(request) {
      sent = { ...request, awaited: awaitCallback({ digest: request.digest, service: request }) };
    },
    wait: async (seconds, acknowledgedBy) =>
      sent ? waitForCallback(sent.awaited, { seconds, acknowledgedBy }) : {},
    close: server.close,
  };
}

const callbacks = [actions.onPublish, actions.onPull, actions.onDiscover] as const;

/** Nothing else needs an answer meanwhile, so large bodies are searched for their messageId in this thread. */
const scan = async (body: Buffer) => scanMessageId(body);

/** Describes a command that receives signed messages, with the limits of the settings and all keys of the registry. */
export function describeReceiver(
  parts: Pick<ListenerOptions, 'self' | 'registry' | 'config'>,
): SignedService {
  const { self, registry, config } = parts;
  return {
    role: 'send',
    self,
    registryName: config.REGISTRY_NAME,
    findKey: registry.findKey,
    findSentRequest: async () => [],
    largeCallbacks: { isAwaited: async () => true, scan },
    limits: { ...signedLimits(config), bodyBytes: config.BULK_BODY_SIZE_LIMIT },
    logger: silentLogger(),
  };
}

export function explainListening(error: Error, { host, port }: ListenAddress): never {
  const inUse =
    'another program listens there. Stop it, give another address with --listen, or sign as an identity without a registered address.';
  const why = hasCode(error, 'EADDRINUSE') ? inUse : `${error.message}.`;
  throw new CommandError(`Cannot wait for the callback at ${host}:${port}: ${why}`, error);
}
