import { createPrivateKey, type KeyObject } from 'node:crypto';
import { isIdPart, isSubscriberId } from '../../../src/protocol/identity.ts';
import { privateKeyFromSeed, publicKeyOf } from '../../../src/protocol/keys.ts';
import { createRegistry, defaultRegistryName, type Registry } from './registry.ts';
import type { ReceivedMessage } from './verify-request.ts';

export interface SignpostOptions {
  /** Your subscriberId, as the registry has it: a domain, or `namespace/registry`. */
  id: string;
  /** The recordId of your key in the registry, for example `key-1`. */
  keyId: string;
  /** Ed25519: a seed of 32 bytes in Base64, a PKCS #8 PEM, or a KeyObject. */
  privateKey: string | KeyObject;
  /** Base address of the registry's DeDi API, such as `https://registry.example/dedi`; or a registry of your own making. */
  registry: string | Registry;
  /** The registry that bare domains belong to (default `subscribers.beckn.one`). */
  registryName?: string;
  /** Base address at which callbacks reach you. Without it, `listen()` takes a free port of this machine. */
  callbacks?: string;
  /** The catalog service: its base address, or its subscriberId, whose address the registry knows. */
  catalogService?: string;
  /** The discovery service, likewise. */
  discoveryService?: string;
  /** How long an answer is waited for (default 30,000). */
  answerTimeoutMs?: number;
  /** How long a callback is waited for (default 60,000). */
  callbackTimeoutMs?: number;
  /** How long a request that could not be delivered is sent again, under the same messageId (default 30,000; 0: never). */
  retryForMs?: number;
  /** The pause before the first repeat (default 500); it doubles with each. */
  retryBaseMs?: number;
  /** Pushes, and callbacks that no call waits for. What it throws is answered as a NACK. */
  onMessage?(message: ReceivedMessage): void | Promise<void>;
  /** Refuses callbacks that do not sign the signature of the request that they answer (default false: deployed peers sign three lines). */
  requireCallbackChain?: boolean;
  /** Lets `pull()` download from loopback and private addresses, and by http: for development (default false). */
  allowPrivateAddresses?: boolean;
  /** In place of the global one. Downloads use it only where private addresses are allowed: otherwise the address is checked where it is connected to. */
  fetch?: typeof fetch;
  /** Receives messages that stop nothing, such as an answer that somebody else signed (default: warnings to the console). */
  logger?: ClientLogger;
}

export interface ClientLogger {
  warn(message: string): void;
  debug(message: string): void;
}

const consoleLogger: ClientLogger = { warn: (message) => console.warn(message), debug: () => {} };

export type Settings = ReturnType<typeof readOptions>;

/** Options are the programmer's own: what is wrong with them is a TypeError. */
export function readOptions(options: SignpostOptions) {
  const { id, keyId, registry, callbacks, registryName = defaultRegistryName } = options;
  const { onMessage, requireCallbackChain = false, allowPrivateAddresses = false } = options;
  const { answerTimeoutMs = 30_000, callbackTimeoutMs = 60_000, retryForMs = 30_000 } = options;
  const { retryBaseMs = 500, fetch: asked = fetch, logger = consoleLogger } = options;
  if (!isSubscriberId(id)) throw new TypeError(`id is not a subscriberId: ${JSON.stringify(id)}`);
  if (!isIdPart(keyId)) throw new TypeError(`keyId is not a recordId: ${JSON.stringify(keyId)}`);
  if (callbacks !== undefined) requireAddress('callbacks', callbacks);
  return {
    key: { subscriberId: id, recordId: keyId, privateKey: readPrivateKey(options.privateKey) },
    registry:
      typeof registry === 'string'
        ? createRegistry({ url: requireAddress('registry', registry), registryName, fetch: asked })
        : registry,
    registryName,
    callbacks,
    services: { catalog: options.catalogService, discovery: options.discoveryService },
    ...{ answerTimeoutMs, callbackTimeoutMs, retryForMs, retryBaseMs },
    ...{ onMessage, requireCallbackChain, allowPrivateAddresses, fetch: asked, logger },
  };
}

function readPrivateKey(key: string | KeyObject): KeyObject {
  const parse = (text: string) =>
    text.includes('-----BEGIN') ? createPrivateKey(text) : privateKeyFromSeed(text);
  const read = typeof key === 'string' ? parse(key) : key;
  // Programs in JavaScript may give undefined, such as a variable of the environment that is not set.
  if (read?.asymmetricKeyType !== 'ed25519')
    throw new TypeError(
      'privateKey is not an Ed25519 key: give its seed in Base64, a PEM text or a KeyObject',
    );
  return read;
}

/** The public half of a seed, as the registry takes it: 32 raw bytes in Base64. */
export function publicKeyFromSeed(seed: string): string {
  return publicKeyOf(privateKeyFromSeed(seed));
}

function requireAddress(name: string, text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new TypeError(`${name} is not an http or https address: ${text}`);
  return text;
}
