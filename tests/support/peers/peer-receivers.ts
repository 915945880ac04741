import { createHash, type KeyObject, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Body } from '../network/actor.ts';

// Receivers of callbacks that behave like deployed peers. They verify signatures in separate code: they share only the wire format with ours.

/** The text that a peer verifies a callback against; undefined if it refuses the callback. */
export type PeerShape = (callback: PeerCallback, sent: SentByPeer) => string | undefined;

/** Ignores callback chains: it always verifies three lines, whatever the attribute `headers` says. */
export const threeLinesOnly: PeerShape = (callback) => threeLines(callback);

/**
 * Chains the whole Authorization value. It looks for the request under the action without a leading `on_`, so it never finds the request of
 * `catalog/on_publish`.
 */
export const wholeHeaderChained: PeerShape = (callback, sent) => {
  if (!callback.headers.endsWith('request-signature')) return threeLines(callback);
  const request = sent(callback.action.replace(/^on_/, ''), callback.messageId);
  return request && `${threeLines(callback)}\nrequest-signature: ${request}`;
};

/** Requires the chain, like our nodes with REQUIRE_CALLBACK_CHAIN. */
export const chainDemanded: PeerShape = (callback, sent) => {
  if (!callback.headers.endsWith('request-signature')) return undefined;
  const request = sent(callback.action.replace('on_', ''), callback.messageId);
  const signature = /signature="([^"]+)"$/.exec(request ?? '')?.[1];
  return signature && `${threeLines(callback)}\nrequest-signature: ${signature}`;
};

/** The key is not in its registry: no signature verifies. */
export const keyUnknown: PeerShape = () => undefined;

export interface Peer {
  url: string;
  shape: PeerShape;
  /** Refuses verified messages that do not match its schemas. */
  refuse?: PeerRefusal;
  /** Every received callback, accepted or not. */
  attempts: PeerAttempt[];
  /** Keeps the Authorization value of a request that it sent. */
  keep(action: string, messageId: string, authorization: string): void;
  close(): void;
}

export type PeerRefusal = (message: {
  action: string;
  body: Body;
}) => { status: number; body?: unknown } | undefined;

export interface PeerAttempt {
  messageId: string;
  action: string;
  lines: 3 | 4;
  status: number;
  raw: Buffer;
}

export async function startPeer(
  shape: PeerShape,
  findKey: (subscriberId: string, recordId: string) => Promise<KeyObject | undefined>,
): Promise<Peer> {
  const sent = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const raw = await buffer(request);
    const callback = read(request.headers.authorization ?? '', raw);
    const key = await findKey(callback.subscriberId, callback.recordId);
    const text = peer.shape(callback, (action, messageId) => sent.get(`${action} ${messageId}`));
    const isGenuine =
      key !== undefined && text !== undefined && verify(null, Buffer.from(text), key, callback.signature);
    const refusal = isGenuine
      ? peer.refuse?.({ action: callback.action, body: JSON.parse(`${raw}`) })
      : undefined;
    const status = isGenuine ? (refusal?.status ?? 200) : 401;
    const { messageId, action } = callback;
    const lines = callback.headers.endsWith('request-signature') ? 4 : 3;
    peer.attempts.push({ messageId, action, lines, status, raw });
    const error = { code: 'AUT_SIGNATURE_INVALID', message: 'signature validation failed' };
    response.writeHead(status, { 'content-type': 'application/json' });
    const answer = { message: isGenuine ? { status: 'ACK' } : { status: 'NACK', error } };
    response.end(JSON.stringify(refusal?.body ?? answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const peer: Peer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shape,
    attempts: [],
    keep: (action, messageId, authorization) => void sent.set(`${action} ${messageId}`, authorization),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return peer;
}

interface PeerCallback {
  subscriberId: string;
  recordId: string;
  created: string;
  expires: string;
  headers: string;
  signature: Buffer;
  digest: string;
  action: string;
  messageId: string;
}

type SentByPeer = (action: string, messageId: string) => string | undefined;

function threeLines({ created, expires, digest }: PeerCallback): string {
  return `(created): ${created}\n(expires): ${expires}\ndigest: BLAKE-512=${digest}`;
}

function read(authorization: string, raw: Buffer): PeerCallback {
  const attributes = Object.fromEntries(
    [...authorization.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value ?? '']),
  );
  const { keyId = '', created = '', expires = '', headers = '', signature = '' } = attributes;
  const [subscriberId = '', recordId = ''] = keyId.split('|');
  const { action, messageId } = JSON.parse(raw.toString('utf8')).context;
  const digest = createHash('blake2b512').update(raw).digest('base64');
  return {
    ...{ subscriberId, recordId, created, expires, headers, digest, action, messageId },
    signature: Buffer.from(signature, 'base64'),
  };
}
