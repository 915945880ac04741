import { createPublicKey, type KeyObject } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { FindKey } from '../../../src/http/authenticate.ts';
import { createServer, type ServerOptions } from '../../../src/http/server.ts';
import type { SignedService } from '../../../src/http/signed-route.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { generateSeed, privateKeyFromSeed, type SigningKey } from '../../../src/protocol/keys.ts';
import {
  parseSignatureHeader,
  signRequest,
  verifySignature,
} from '../../../src/protocol/request-signature.ts';

// A role on a real port with signed routes, and senders with real signatures: for tests of http, without registry or database.

export const registryName = 'subscribers.beckn.one';

export interface Participant extends SigningKey {
  publicKey: KeyObject;
}

export function createParticipant(subscriberId: string, recordId = 'key-1'): Participant {
  const privateKey = privateKeyFromSeed(generateSeed());
  return { subscriberId, recordId, privateKey, publicKey: createPublicKey(privateKey) };
}

/** A registry of fixed keys. */
export function findKeyAmong(participants: readonly Participant[]): FindKey {
  return async (subscriberId, recordId) => {
    const known = participants.filter((participant) => participant.subscriberId === subscriberId);
    const key = known.find((participant) => participant.recordId === recordId);
    if (known.length === 0) return { kind: 'unknown-subscriber' };
    if (!key) return { kind: 'unknown-key' };
    return {
      kind: 'key',
      publicKey: key.publicKey,
      record: { recordId, subscriberId, networkMemberships: [], catalogIndexUrls: [], state: 'live' },
    };
  };
}

export function createService(self: SigningKey, overrides: Partial<SignedService> = {}): SignedService {
  const { limits, ...rest } = overrides;
  return {
    role: 'catalog',
    self,
    registryName,
    findKey: async () => ({ kind: 'unknown-subscriber' }),
    logger: silentLogger(),
    ...rest,
    limits: {
      clockSkewSeconds: 60,
      maxSignatureSeconds: 7_200,
      bodyBytes: 5_242_880,
      bulkBodyBytes: 16_777_216,
      ...limits,
    },
  };
}

export interface RunningServer {
  server: FastifyInstance;
  url: string;
  port: number;
}

export async function listen(
  addRoutes: (server: FastifyInstance) => void,
  options: Partial<ServerOptions> = {},
): Promise<RunningServer> {
  const server = createServer({
    role: 'catalog',
    logger: silentLogger(),
    metrics: createMetrics({ process: false }),
    ready: async () => undefined,
    ...options,
  });
  addRoutes(server);
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}`, port };
}

export interface Sent {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: Received;
}

/** The parts of an answer that tests use. */
export interface Received {
  context?: Record<string, unknown>;
  message?: {
    status?: string;
    messageId?: string;
    error?: { code: string; message: string; details?: { path: string } };
  } & Record<string, unknown>;
}

export interface Outgoing {
  method?: string;
  /** Names may be repeated: an array sends one header per value. */
  headers?: Record<string, string | string[]>;
  body?: Buffer | string;
  /** Writes the body itself, for chunked and broken ones. */
  write?: (request: ClientRequest) => void;
  /** The address to send from: attackers use a separate one. */
  localAddress?: string;
}

/** Plain HTTP without a client's conventions for headers, bodies of GET or early answers. */
export async function send(
  url: string,
  { method = 'POST', headers = {}, body, write, localAddress }: Outgoing,
): Promise<Sent> {
  return await new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, localAddress, agent: false }, async (response) => {
      const chunks = await response.toArray();
      const text = Buffer.concat(chunks).toString('utf8');
      const isJson = text !== '' && (response.headers['content-type'] ?? '').includes('json');
      const json = isJson ? JSON.parse(text) : {};
      request.destroy(); // an early answer leaves the rest of the request unsent
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
    });
    request.on('error', reject);
    if (write) write(request);
    else if (body !== undefined && body.length > 0) {
      request.setHeader('content-length', Buffer.byteLength(body));
      request.end(body);
    } else request.end();
  });
}

export interface SignedOutgoing extends Outgoing {
  from: SigningKey;
  now?: Date;
  lifetimeSeconds?: number;
  answering?: string;
}

export async function sendSigned(
  url: string,
  { from, now, lifetimeSeconds, answering, ...outgoing }: SignedOutgoing,
): Promise<Sent> {
  const body = Buffer.from(outgoing.body ?? '');
  const authorization = signRequest(from, body, { now: now ?? new Date(), lifetimeSeconds, answering });
  return await send(url, { ...outgoing, headers: { authorization, ...outgoing.headers } });
}

/** Throws unless that participant signed the answer for that request. */
export function verifyAnswer(answer: Sent, by: Participant, authorization: string): void {
  const value = answer.headers.signature;
  if (typeof value !== 'string') throw new Error('the answer carries no signature');
  const header = parseSignatureHeader(value);
  if (!header.chained || header.subscriberId !== by.subscriberId)
    throw new Error(`signed otherwise: ${value}`);
  verifySignature(
    header,
    by.publicKey,
    Buffer.from(answer.text),
    parseSignatureHeader(authorization).signature,
  );
}
