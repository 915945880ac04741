import { createPrivateKey, type KeyObject } from 'node:crypto';
import { isIdPart, isSubscriberId } from '../../../src/protocol/identity.ts';
import { privateKeyFromSeed, publicKeyOf } from '../../../src/protocol/keys.ts';
import { createRegistry, defaultRegistryName, type Registry } from './registry.ts';
import type { ReceivedMessage } from './verify-request.ts';

export interface SignpostOptions {
  /** Your subscriberId in the registry: a domain, or `namespace/registry`. */
  id: string;
  /** The recordId of your key in the registry, for example `key-1`. */
  keyId: string;
  /** Ed25519: a seed of 32 bytes in Base64, a PKCS #8 PEM, or a KeyObject. */
  privateKey: string | KeyObject;
  /** Base address of the registry's DeDi API, such as `https://registry.example/dedi`; or your own Registry. */
  registry: string | Registry;
  /** The registry of bare domains (default `subscribers.beckn.one`). */
  registryName?: string;
  /** Base address for callbacks to you. Without it, `listen()` uses a free port of this machine. */
  callbacks?: string;
  /** The catalog service: its base address, or its subscriberId, whose address is in the registry. */
  catalogService?: string;
  /** The discovery service, likewise. */
  discoveryService?: string;
  /** Maximum wait for an answer (default 30,000). */
  answerTimeoutMs?: number;
  /** Maximum wait for a callback (default 60,000). */
  callbackTimeoutMs?: number;
  /** How long an undelivered request is retried, under the same messageId (default 30,000; 0: never). */
  retryForMs?: number;
  /** The pause before the first retry (default 500); it doubles with each. */
  retryBaseMs?: number;
  /** Receives pushes, and callbacks without a waiting call. Errors that it throws are answered with a NACK. */
  onMessage?(message: ReceivedMessage): void | Promise<void>;
  /** Refuses callbacks that do not sign the signature of their request (default false: deployed peers sign three lines). */
  requireCallbackChain?: boolean;
  /** Lets `pull()` download from loopback and private addresses, and by http: for development (default false). */
  allowPrivateAddresses?: boolean;
  /** Replaces the global one. Downloads use it only if private addresses are allowed: otherwise addresses are checked on connection. */
  fetch?: typeof fetch;
  /** Receives messages about non-fatal events, such as an answer signed by someone else (default: warnings to the console). */
  logger?: ClientLogger;
}

export interface ClientLogger {
  warn(message: string): void;
  debug(message: string): void;
}

const consoleLogger: ClientLogger = { warn: (message) => console.warn(message), debug: () => {} };

export type Settings = ReturnType<typeof readOptions>;

/** Options come from the programmer: a fault in them is a TypeError. */
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
  // JavaScript programs may pass undefined, for example from an unset environment variable.
  if (read?.asymmetricKeyType !== 'ed25519')
    throw new TypeError(
      'privateKey is not an Ed25519 key: give its seed in Base64, a PEM text or a KeyObject',
    );
  return read;
}

/** The public half of a seed in the registry's format: 32 raw bytes in Base64. */
export function publicKeyFromSeed(seed: string): string {
  return publicKeyOf(privateKeyFromSeed(seed));
}

function requireAddress(name: string, text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new TypeError(`${name} is not an http or https address: ${text}`);
  return text;
}
