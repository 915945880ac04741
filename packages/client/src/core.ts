import { randomUUID } from 'node:crypto';
import type { Action } from '../../../src/protocol/actions.ts';
import type { AskedService } from '../../../src/protocol/asked-service.ts';
import type { Context } from '../../../src/protocol/context.ts';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { protocolVersion } from '../../../src/protocol/endpoints.ts';
import { parseEnvelope } from '../../../src/protocol/envelope.ts';
import { identityOf } from '../../../src/protocol/identity.ts';
import type { Static, TSchema } from '../../../src/protocol/type.ts';
import { validator } from '../../../src/protocol/validate.ts';
import type { AwaitedCallbacks } from './awaited-callbacks.ts';
import { asSignpostError, SignpostError } from './errors.ts';
import type { Settings } from './options.ts';
import { type Answer, send } from './send.ts';
import type { ReceivedMessage } from './verify-request.ts';

// The steps of every action: fill in the context, check the request like the service, send it, and wait for the callback if there is one.

export interface Core {
  settings: Settings;
  awaited: AwaitedCallbacks;
  callbacks?: string;
}

/** Options of every call. */
export interface CallOptions {
  /** subscriberId or base address of the service; default: the constructor's. */
  to?: string;
  /** Your own id, for example to find it in your logs; a service accepts each for one request only. */
  messageId?: string;
  transactionId?: string;
  callbackTimeoutMs?: number;
  signal?: AbortSignal;
  /** Further members of the context, such as `networkId` or `ttl`. */
  context?: Partial<Context>;
}

export interface Question {
  action: Action;
  service: 'catalog' | 'discovery';
  message?: object;
  query?: Record<string, string | number | undefined>;
}

/** The answer of a catalog service, read by its schema. */
export async function askCatalog<S extends TSchema>(
  core: Core,
  question: Omit<Question, 'service'>,
  schema: S,
  options: CallOptions,
): Promise<Static<S>> {
  const asked = { ...question, service: 'catalog' } as const;
  const request = buildRequest(core, asked, options);
  const { body } = await send(core.settings, { ...request, ...(await findService(core, asked, options)) });
  try {
    return validator(schema)(body);
  } catch (error) {
    throw asSignpostError(error);
  }
}

/** The callback; undefined if the answer was a 202, which announces none. */
export async function askAndWait<A extends ReceivedMessage['action']>(
  core: Core,
  question: Question & { action: Action & { callback?: A } },
  options: CallOptions,
): Promise<{ answer: Answer; callback?: Extract<ReceivedMessage, { action: A }> }> {
  requireReceiver(core);
  const { method, body, messageId } = buildRequest(core, question, options);
  const { signal, callbackTimeoutMs = core.settings.callbackTimeoutMs } = options;
  const { service, url } = await findService(core, question, options);
  const { callback = '' } = question.action;
  const awaited = core.awaited.expect({ messageId, callback, digest: bodyDigest(body), service });
  try {
    const onAttempt = awaited.addAttempt;
    const answer = await send(core.settings, { method, service, url, body, messageId, onAttempt, signal });
    if (answer.status === 202) return { answer };
    awaited.acknowledge(answer.signer);
    const arrived = await awaited.wait(callbackTimeoutMs, signal);
    return { answer, callback: arrived as Extract<ReceivedMessage, { action: A }> };
  } finally {
    awaited.done();
  }
}

function requireReceiver({ callbacks }: Core): void {
  if (callbacks !== undefined) return;
  throw new SignpostError(
    'CTX_CALLBACK_URL_MISSING',
    'Nothing would receive the callback: pass `callbacks` to the constructor, or call listen() first.',
  );
}

/** Throws before sending if the service would refuse the form, with the same code and path. */
function buildRequest(core: Core, { action, message }: Question, options: CallOptions) {
  const { messageId = randomUUID(), transactionId = randomUUID() } = options;
  if (action.method !== 'POST') return { method: action.method, body: Buffer.alloc(0), messageId };
  const now = new Date();
  const { subscriberId } = core.settings.key;
  const envelope = {
    context: {
      ...options.context,
      version: protocolVersion,
      action: action.name,
      messageId,
      transactionId,
      timestamp: now.toISOString(),
      ...(action.caller && { [`${action.caller}Id`]: subscriberId, [`${action.caller}Uri`]: core.callbacks }),
    },
    message,
  };
  // Parsed again, so that the check sees what the service will read, without undefined members.
  const body = Buffer.from(JSON.stringify(envelope));
  try {
    parseEnvelope(body, action, now);
  } catch (error) {
    throw asSignpostError(error, messageId);
  }
  return { method: action.method, body, messageId };
}

async function findService(core: Core, { action, service: role, query = {} }: Question, { to }: CallOptions) {
  const named = to ?? core.settings.services[role];
  if (named === undefined)
    throw new TypeError(`which ${role} service? Pass \`to\`, or \`${role}Service\` to the constructor`);
  const service: AskedService = /^https?:\/\//.test(named)
    ? { url: named }
    : { url: await registeredUrl(core, named), identity: identityOf(named, core.settings.registryName) };
  const url = new URL(`${service.url.replace(/\/+$/, '')}${action.path}`);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return { service, url: url.href };
}

async function registeredUrl({ settings }: Core, subscriberId: string): Promise<string> {
  const records = await settings.registry.findSubscriber(subscriberId).catch((error: unknown) => {
    throw asSignpostError(error);
  });
  const url = records.find((record) => record.url !== undefined)?.url;
  if (url === undefined)
    throw new SignpostError('AUT_SUBSCRIBER_NOT_FOUND', `The registry has no address for ${subscriberId}.`);
  return url;
}
