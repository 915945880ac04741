import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { attempt } from '../attempt.ts';
import { asProtocolError, errorAnswer } from '../http/error-answer.ts';
import type { PlainOperation } from '../http/openapi.ts';
import { chargeRequest, createRateLimit, ofThisProcess } from '../http/rate-limit.ts';
import { answerErrors } from '../http/server.ts';
import { signedLimits } from '../http/signed-limits.ts';
import { sourceOf } from '../http/source.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { OnDiscoverCallback } from '../protocol/discover-messages.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { identityOf } from '../protocol/identity.ts';
import { isJsonObject } from '../protocol/json.ts';
import { findMessageId } from '../protocol/message-id.ts';
import { OnPublishCallback } from '../protocol/publish-messages.ts';
import { OnPullCallback } from '../protocol/pull-messages.ts';
import {
  checkSignatureWindow,
  findSignatureText,
  parseSignatureHeader,
  signRequest,
  verifySignature,
} from '../protocol/request-signature.ts';
import { Type } from '../protocol/type.ts';
import { currentKeyId, findSigningKey } from '../registry/key-files.ts';
import { findRequestSignatures } from '../storage/console/publishes.ts';
import { InboxItem } from './answers/debug.ts';
import { actorOf } from './audit.ts';
import { audited } from './audited.ts';
import type { ConsoleContext } from './context.ts';
import { addRoute } from './route.ts';

// The inbox: an address for callbacks to the consumer of the settings. It shows each message with the result of its signature check, and answers
// like a consumer, with ACK or 401. Messages are only in the memory of this process.

const maxBodyBytes = 1024 * 1024;
/** Rate limit per source address, applied before the signature check. */
const perSource = { perSecond: 20, burst: 100 };
const maxVerified = 150;
const maxUnverified = 50;
const maxItems = maxVerified + maxUnverified;
/** Limit for the bodies of all verified messages, by their size in memory. */
const maxVerifiedBytes = 64 * 1024 * 1024;
/** A string takes up to two bytes per character. */
const bytesPerCharacter = 2;
const maxUnverifiedBytes = 16 * 1024;

export function addInboxRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const { shareLimit = ofThisProcess } = context;
  const items = createInboxItems();
  const receive = createReceiver(context);
  const sources = shareLimit('inbox', createRateLimit(perSource));

  server.register(async (inbox) => {
    inbox.removeAllContentTypeParsers();
    inbox.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    // Senders of callbacks expect NACKs, not the console's errors.
    inbox.setErrorHandler(answerErrors());
    // The rate limit applies before the body is read.
    inbox.addHook('onRequest', async ({ ip }) => chargeRequest(sources, sourceOf(ip)));
    inbox.post(
      '/inbox/*',
      { bodyLimit: maxBodyBytes, config: { operation: receiveOperation, access: 'open' } },
      async (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const { item, status, answer, signature } = await receive(request.url, request.headers, body);
        items.add(item);
        context.events.tell('inbox', item.id);
        if (signature !== undefined) reply.header('signature', signature);
        return reply.code(status).type('application/json').send(answer);
      },
    );
  });

  addRoute(server, 'GET /api/inbox', {
    summary: 'List the messages in the inbox of this process, the latest first.',
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxItems, default: maxItems })),
    }),
    answer: Type.Object({ items: Type.Array(InboxItem), total: Type.Integer() }),
    handle: async ({ query: { limit = maxItems } }) => ({ items: items.list(limit), total: items.count() }),
  });
  addRoute(server, 'DELETE /api/inbox', {
    summary: 'Empty the inbox.',
    answers: { 204: 'It is empty.' },
    async handle(_asked, request, reply) {
      const cleared = { action: 'inbox.clear', target: 'inbox' };
      await audited(context, actorOf(request), cleared, async () => items.clear());
      context.events.tell('inbox');
      return reply.code(204).send();
    },
  });
}

function createReceiver({ config, database, outside, now }: ConsoleContext) {
  const registry = outside.freshRegistry();
  const limits = signedLimits(config);

  /** Throws if the signature is invalid. The body is parsed only if the signature is chained and its key known. */
  async function verify(authorization: string | undefined, body: Buffer): Promise<void> {
    if (authorization === undefined)
      throw new ProtocolError('AUT_SIGNATURE_MISSING', 'The request has no Authorization header.');
    const header = parseSignatureHeader(authorization);
    checkSignatureWindow(header, now(), limits);
    const lookup = await registry.findKey(header.subscriberId, header.recordId);
    if (lookup.kind !== 'key') {
      const reason = 'reason' in lookup && lookup.reason ? `: ${lookup.reason}` : '';
      throw new ProtocolError('AUT_KEY_NOT_FOUND', `The key that it names is ${lookup.kind}${reason}.`);
    }
    const messageId = header.chained ? findMessageId(parse(body)) : undefined;
    const sent = messageId !== undefined ? await findRequestSignatures(database, messageId) : [];
    verifySignature(header, lookup.publicKey, body, sent);
  }

  return async (path: string, headers: IncomingHttpHeaders, body: Buffer) => {
    const { authorization } = headers;
    const fault = await verify(authorization, body).catch(asProtocolError);
    const maxKeptBytes = fault ? maxUnverifiedBytes : maxBodyBytes;
    const document = body.length <= maxKeptBytes ? parse(body) : undefined;
    const messageId = findMessageId(document);
    const told = fault ? errorAnswer(fault, { messageId }) : { status: 200, body: ack(messageId ?? '') };
    const answer = JSON.stringify(told.body);
    return {
      item: {
        ...{ id: randomUUID(), at: now().toISOString(), path },
        ...describe(document, authorization, config.REGISTRY_NAME),
        ...(messageId !== undefined && { messageId }),
        ...{ verifies: fault === undefined, ...(fault && { why: fault.message }) },
        headers: redactHeaders(headers),
        body: body.toString('utf8', 0, maxKeptBytes),
      },
      ...{ status: told.status, answer, signature: sign(answer, authorization) },
    };
  };

  function sign(answer: string, authorization = ''): string | undefined {
    const { consumer } = config.identities;
    const keyId = consumer.keyId ?? currentKeyId(config.DATA_DIR, consumer.id);
    const key = findSigningKey(config.DATA_DIR, { ...consumer, keyId });
    const answering = findSignatureText(authorization);
    return key && answering && signRequest(key, Buffer.from(answer), { now: now(), answering });
  }
}

function parse(body: Buffer): unknown {
  return attempt(() => JSON.parse(body.toString('utf8')));
}

function describe(document: unknown, authorization: string | undefined, registryName: string) {
  const context = isJsonObject(document) && isJsonObject(document.context) ? document.context : {};
  const [, from] = /keyId="([^"|]+)\|/.exec(authorization ?? '') ?? [];
  return {
    ...(typeof context.action === 'string' && { action: context.action }),
    ...(from !== undefined && { from: identityOf(from, registryName) }),
  };
}

const receiveOperation: PlainOperation = {
  summary: 'Receive a callback to the consumer, and show it in the inbox.',
  description: 'Signed like every callback. A message with a bad signature is shown too, and refused.',
  body: Type.Union([OnDiscoverCallback, OnPublishCallback, OnPullCallback]),
  answers: {
    401: 'The signature is not valid.',
    413: 'The body has more than 1 MiB.',
    429: 'Too many from this address; Retry-After says when to try again.',
  },
};

/**
 * The messages of the inbox, in the memory of this process. Anybody can send a message with a bad signature. Such messages are in a separate
 * small ring buffer, so that they never push out a verified message.
 */
function createInboxItems() {
  let items: InboxItem[] = [];
  return {
    add(item: InboxItem): void {
      items = dropSurplus([item, ...items]);
    },
    list: (limit: number): InboxItem[] => items.slice(0, limit),
    count: () => items.length,
    clear(): void {
      items = [];
    },
  };
}

export function dropSurplus(latestFirst: readonly InboxItem[]): InboxItem[] {
  let [verified, unverified, bytes] = [0, 0, 0];
  return latestFirst.filter((item) => {
    if (!item.verifies) return ++unverified <= maxUnverified;
    bytes += item.body.length * bytesPerCharacter;
    return ++verified <= maxVerified && bytes <= maxVerifiedBytes;
  });
}

/** Removes cookies, tokens and passwords, which would give access to other services. */
function redactHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown = Object.entries(headers).filter(([name]) => name !== 'cookie');
  return Object.fromEntries(
    shown.map(([name, value]) => [
      name,
      name === 'authorization' && /^(bearer|basic) /i.test(String(value)) ? '…' : String(value),
    ]),
  );
}
