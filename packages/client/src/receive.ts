import { ack, nack } from '../../../src/protocol/acknowledgement.ts';
import { ProtocolError } from '../../../src/protocol/errors.ts';
import { scanMessageId } from '../../../src/protocol/message-id-scan.ts';
import { requireKey } from '../../../src/protocol/registry-record.ts';
import { findSignatureText, signRequest } from '../../../src/protocol/request-signature.ts';
import type { Core } from './core.ts';
import { asProtocolError } from './errors.ts';
import {
  type HeaderSource,
  headerOf,
  type ReceivedMessage,
  receivable,
  verifyRequest,
} from './verify-request.ts';

// Receives messages: they are verified, given to the waiting call or to `onMessage`, and acknowledged with our signature. Adapters only pass bytes.

export interface ReceivedRequest {
  method: string;
  /** Path of the URL, with or without query. */
  path: string;
  headers: HeaderSource;
  /** The original bytes: a body that was parsed and serialized again has another signature. */
  body: Uint8Array;
}

export interface SentAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** catalog spec, Limits: bodies of callbacks and pushes. */
export const maxBodyBytes = 16 * 1024 * 1024;

/** Whether the address of a request belongs to the protocol. */
export function isReceivable({ method, path }: Pick<ReceivedRequest, 'method' | 'path'>): boolean {
  return method === 'POST' && findAction(path) !== undefined;
}

export async function receive(core: Core, request: ReceivedRequest): Promise<SentAnswer> {
  const { body, headers } = request;
  try {
    const message = await verifyRequest(body, headers, describeChecks(core, request));
    await deliver(core, message);
    return answer(core, headers, { status: 200, body: ack(message.context.messageId) });
  } catch (thrown) {
    const error = asProtocolError(thrown);
    const messageId = scanMessageId(body);
    const action = findAction(request.path)?.name;
    if (messageId !== undefined && action !== undefined)
      core.awaited.noteRefusal({ messageId, action, reason: error.message });
    return answer(core, headers, { status: error.status, body: nack(error, messageId) });
  }
}

function describeChecks({ settings, awaited }: Core, { method, path, body }: ReceivedRequest) {
  const action = findAction(path);
  if (method !== 'POST' || !action)
    throw new ProtocolError('CTX_ACTION_MISMATCH', `There is no ${method} ${path} here.`, { status: 404 });
  if (body.length > maxBodyBytes) throw tooLarge();
  const { registry, registryName, requireCallbackChain } = settings;
  return {
    action: action.name,
    ...{ registryName, requireCallbackChain },
    findSent: awaited.findSent,
    resolveKey: async ({ subscriberId, keyId }: { subscriberId: string; keyId: string }) => {
      const { publicKey, record } = requireKey(await registry.findKey(subscriberId, keyId));
      return { publicKey, subscriberId: record.subscriberId, url: record.url };
    },
  };
}

export function tooLarge(): ProtocolError {
  const message = `The body has more than ${maxBodyBytes} bytes.`;
  return new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', message, { status: 413 });
}

function findAction(path: string): (typeof receivable)[number] | undefined {
  const [pathname = ''] = path.split('?');
  return receivable.find((action) => pathname.endsWith(action.path));
}

async function deliver({ awaited, settings: { onMessage } }: Core, message: ReceivedMessage): Promise<void> {
  const isAwaited = message.action !== 'catalog/push' && awaited.accept(message);
  if (isAwaited) return;
  if (onMessage) return onMessage(message);
  throw message.action === 'catalog/push'
    ? new ProtocolError('NET_NOT_IMPLEMENTED', 'Pushes are not accepted here.')
    : new ProtocolError('CTX_INVALID_FIELD', 'This does not answer any of our requests.', {
        path: '$.context.messageId',
      });
}

/** Signed by the protocol decision for all answers: over its digest and the signature of the request. */
function answer(
  { settings: { key } }: Core,
  headers: HeaderSource,
  { status, body }: { status: number; body: object },
): SentAnswer {
  const text = JSON.stringify(body);
  const authorization = headerOf(headers, 'authorization');
  const answering = typeof authorization === 'string' ? findSignatureText(authorization) : undefined;
  const signature =
    answering === undefined ? undefined : signRequest(key, Buffer.from(text), { now: new Date(), answering });
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(signature !== undefined && { signature }),
      ...(status === 401 && {
        'www-authenticate': `Signature realm="${key.subscriberId}",headers="(created) (expires) digest"`,
      }),
    },
    body: text,
  };
}
