import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Registry } from '../../../packages/client/src/index.ts';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { identityOf } from '../../../src/protocol/identity.ts';
import {
  generateSeed,
  parsePublicKey,
  privateKeyFromSeed,
  publicKeyOf,
  type SigningKey,
} from '../../../src/protocol/keys.ts';
import type { ParticipantRecord } from '../../../src/protocol/registry-record.ts';
import { findSignatureText, signRequest } from '../../../src/protocol/request-signature.ts';
import type { Body } from '../network/actor.ts';

// Services that behave like deployed peers, or attackers, for a client to call: at one address, with the signatures that a test sets.

export const registryName = 'subscribers.beckn.one';

export interface Participant {
  id: string;
  /** `namespace/registry`. */
  identity: string;
  seed: string;
  key: SigningKey;
  record: ParticipantRecord;
}

/** Who is registered, and at which address. */
export function createDirectory(): {
  registry: Registry;
  register(name: string, url?: string): Participant;
} {
  const known = new Map<string, Participant>();
  const find = (subscriberId: string) => known.get(identityOf(subscriberId, registryName));
  return {
    registry: {
      async findKey(subscriberId) {
        const record = find(subscriberId)?.record;
        if (!record) return { kind: 'unknown-subscriber' };
        return { kind: 'key', publicKey: parsePublicKey(record.signingPublicKey ?? ''), record };
      },
      findSubscriber: async (subscriberId) =>
        [find(subscriberId)?.record].filter((record) => record !== undefined),
    },
    register(name, url) {
      const id = `${name}.example.org`;
      const seed = generateSeed();
      const privateKey = privateKeyFromSeed(seed);
      const record: ParticipantRecord = {
        ...{ recordId: 'key-1', subscriberId: id, url, state: 'live' },
        ...{ signingPublicKey: publicKeyOf(privateKey), networkMemberships: [], catalogIndexUrls: [] },
      };
      const identity = identityOf(id, registryName);
      const key = { subscriberId: id, recordId: 'key-1', privateKey };
      const participant = { id, identity, seed, key, record };
      known.set(identity, participant);
      return participant;
    },
  };
}

export interface PeerRequest {
  method: string;
  headers: IncomingHttpHeaders;
  authorization: string;
  raw: Buffer;
  /** Undefined for GET and DELETE. */
  body: Body;
}

export interface PeerAnswer {
  status?: number;
  body: object;
  /** The signer of the header `Signature`; without one, the header is missing, as in the answers of most deployed peers. */
  signedBy?: Participant;
  headers?: Record<string, string>;
  /** Called when the answer was sent. */
  afterwards?(): Promise<unknown>;
}

export interface PeerService {
  url: string;
  requests: PeerRequest[];
  answer(request: PeerRequest): PeerAnswer | Promise<PeerAnswer>;
  close(): void;
}

export async function startPeerService(): Promise<PeerService> {
  const server = createServer(async (request, response) => {
    const raw = await buffer(request);
    const { authorization = '' } = request.headers;
    const body = raw.length > 0 ? JSON.parse(raw.toString('utf8')) : undefined;
    const received = { method: request.method ?? '', headers: request.headers, authorization, raw, body };
    peer.requests.push(received);
    const { status = 200, body: sent, signedBy, headers, afterwards } = await peer.answer(received);
    const bytes = Buffer.from(JSON.stringify(sent));
    const answering = findSignatureText(authorization);
    const signature = signedBy && signRequest(signedBy.key, bytes, { now: new Date(), answering });
    response.writeHead(status, { ...headers, ...(signature && { signature }) });
    response.end(bytes, () => void afterwards?.());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const peer: PeerService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answer: () => ({ body: {} }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return peer;
}

export function ackOf({ body }: PeerRequest): object {
  return { message: { status: 'ACK', messageId: body.context.messageId } };
}

/** Beckn-ONIX's answer to members that its schema does not name: the path of the object, once per unknown member, and the text of its validator. */
export function onixRefusal(members: readonly string[]): PeerAnswer {
  const error = {
    code: 'SCH_FIELD_NOT_ALLOWED',
    message: members.map((member) => `property "${member}" is unsupported`).join('; '),
    details: { path: members.map(() => 'message').join(';') },
  };
  return { status: 400, body: { message: { status: 'NACK', error } } };
}

export interface CallbackShape {
  /** `fourLines` as we send them, `threeLines` as deployed peers do. */
  lines: 'threeLines' | 'fourLines';
  action?: string;
  message: object;
  headers?: Record<string, string>;
}

/** Sends the callback to a request as the given participant; returns the status of the answer. */
export async function callBack(
  { authorization, raw, body }: PeerRequest,
  as: Participant,
  { lines, action = 'on_discover', message, headers }: CallbackShape,
): Promise<number> {
  const context = {
    ...{ ...body.context, action, bppId: as.id, bppUri: 'http://127.0.0.1:9' },
    ...{ timestamp: new Date().toISOString(), requestDigest: { digest: bodyDigest(raw) } },
  };
  const bytes = Buffer.from(JSON.stringify({ context, message }));
  const answering = lines === 'fourLines' ? findSignatureText(authorization) : undefined;
  const response = await fetch(`${body.context.bapUri ?? body.context.bppUri}/${action}`, {
    method: 'POST',
    headers: { ...headers, authorization: signRequest(as.key, bytes, { now: new Date(), answering }) },
    body: bytes,
  });
  return response.status;
}
