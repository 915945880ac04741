import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { asProtocolError, errorAnswer } from '../http/error-answer.ts';
import type { PlainOperation } from '../http/openapi.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { findMessageId, parseQuery } from '../protocol/envelope.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { identityOf } from '../protocol/identity.ts';
import { isJsonObject } from '../protocol/json.ts';
import {
  checkSignatureWindow,
  findSignatureText,
  parseSignatureHeader,
  signRequest,
  verifySignature,
} from '../protocol/request-signature.ts';
import { currentKeyId, findSigningKey } from '../registry/key-files.ts';
import { findRequestSignatures } from '../storage/console/publishes.ts';
import { audited } from './audit.ts';
import type { ConsoleContext } from './context.ts';

// The inbox: an address for callbacks to the consumer of the settings. It shows what arrives and whether it verifies, and answers as a consumer does: ACK, or 401. What came
// is in the memory of this process alone.

export interface InboxItem {
  id: string;
  at: string;
  path: string;
  action?: string;
  /** Whom the signature names, whether it holds or not. */
  from?: string;
  messageId?: string;
  verifies: boolean;
  /** Why it does not verify. */
  why?: string;
  headers: Record<string, string>;
  /** Parsed where it is JSON; a text otherwise, or where it is too large to be kept whole. */
  body: unknown;
}

const maxItems = 200;
const maxKeptBytes = 1024 * 1024;
/** Of all bodies together. */
const maxTotalBytes = 32 * 1024 * 1024;
/** An on_discover has up to 8 MiB. */
const maxBodyBytes = 10 * 1024 * 1024;

export function addInboxRoutes(server: FastifyInstance, context: ConsoleContext): void {
  const items: InboxItem[] = [];
  const sizes: number[] = [];
  const receive = createReceiver(context);

  server.register(async (inbox) => {
    inbox.removeAllContentTypeParsers();
    inbox.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    inbox.post(
      '/inbox/*',
      { bodyLimit: maxBodyBytes, config: { operation: receiveOperation, access: 'open' } },
      async (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const { item, status, answer, signature } = await receive(request.url, request.headers, body);
        items.unshift(item);
        dropSurplus(items, sizes, body.length);
        context.events.tell('inbox', item.id);
        if (signature !== undefined) reply.header('signature', signature);
        return reply.code(status).type('application/json').send(answer);
      },
    );
  });

  server.get('/api/inbox', { config: { operation: listOperation } }, async ({ query }) => {
    const { limit = maxItems } = parseQuery(InboxQuery, query as Record<string, unknown>);
    return { items: items.slice(0, limit), total: items.length };
  });
  server.delete('/api/inbox', { config: { operation: clearOperation } }, async (request, reply) => {
    await audited(context, request, { action: 'inbox.clear', target: 'inbox' }, async () => {
      items.length = 0;
      sizes.length = 0;
    });
    context.events.tell('inbox');
    return reply.code(204).send();
  });
}

/** The oldest go first. */
function dropSurplus(items: InboxItem[], sizes: number[], bytes: number): void {
  sizes.unshift(Math.min(bytes, maxKeptBytes));
  let total = 0;
  const kept = sizes.findIndex((size, at) => {
    total += size;
    return at >= maxItems || total > maxTotalBytes;
  });
  if (kept >= 0) items.length = sizes.length = kept;
}

interface Received {
  item: InboxItem;
  status: number;
  answer: string;
  /** Of the answer, where the consumer has a key. */
  signature?: string;
}

function createReceiver({ config, database, outside, now }: ConsoleContext) {
  const registry = outside.freshRegistry();
  const limits = {
    clockSkewSeconds: config.CLOCK_SKEW_SECONDS,
    maxSignatureSeconds: config.MAX_SIGNATURE_SECONDS,
  };

  /** Throws unless the signature holds; returns who signed. */
  async function verify(authorization: string | undefined, body: Buffer, messageId?: string): Promise<void> {
    if (authorization === undefined)
      throw new ProtocolError('AUT_SIGNATURE_MISSING', 'The request has no Authorization header.');
    const header = parseSignatureHeader(authorization);
    checkSignatureWindow(header, now(), limits);
    const lookup = await registry.findKey(header.subscriberId, header.recordId);
    if (lookup.kind !== 'key') {
      const reason = 'reason' in lookup && lookup.reason ? `: ${lookup.reason}` : '';
      throw new ProtocolError('AUT_KEY_NOT_FOUND', `The key that it names is ${lookup.kind}${reason}.`);
    }
    const isChained = header.chained && messageId !== undefined;
    const sent = isChained ? await findRequestSignatures(database, messageId) : [];
    verifySignature(header, lookup.publicKey, body, sent);
  }

  return async (path: string, headers: IncomingHttpHeaders, body: Buffer): Promise<Received> => {
    const document = parse(body);
    const messageId = findMessageId(document);
    const { authorization } = headers;
    const fault = await verify(authorization, body, messageId).then(
      () => undefined,
      (error: unknown) => asProtocolError(error),
    );
    const told = fault ? errorAnswer(fault, { messageId }) : { status: 200, body: ack(messageId ?? '') };
    const answer = JSON.stringify(told.body);
    return {
      item: {
        ...{ id: randomUUID(), at: now().toISOString(), path },
        ...describe(document, authorization, config.REGISTRY_NAME),
        ...(messageId !== undefined && { messageId }),
        ...{ verifies: fault === undefined, ...(fault && { why: fault.message }) },
        headers: shownHeaders(headers),
        body:
          body.length > maxKeptBytes ? body.toString('utf8', 0, maxKeptBytes) : (document ?? body.toString()),
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
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function describe(
  document: unknown,
  authorization: string | undefined,
  registryName: string,
): Pick<InboxItem, 'action' | 'from'> {
  const context = isJsonObject(document) && isJsonObject(document.context) ? document.context : {};
  const [, from] = /keyId="([^"|]+)\|/.exec(authorization ?? '') ?? [];
  return {
    ...(typeof context.action === 'string' && { action: context.action }),
    ...(from !== undefined && { from: identityOf(from, registryName) }),
  };
}

/** Without what lets somebody in elsewhere. */
function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown = Object.entries(headers).filter(([name]) => name !== 'cookie');
  return Object.fromEntries(
    shown.map(([name, value]) => [
      name,
      name === 'authorization' && /^(bearer|basic) /i.test(String(value)) ? '…' : String(value),
    ]),
  );
}

const InboxQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxItems, default: maxItems })),
});

const receiveOperation: PlainOperation = {
  summary: 'Take a callback to the consumer: it is shown in the inbox.',
  description: 'Signed as every callback. What does not verify is shown, too, and refused.',
  answers: { 401: 'The signature does not hold.' },
};

const listOperation: PlainOperation = {
  summary: 'List what came to the inbox of this process, the latest first.',
  query: InboxQuery,
  answer: Type.Object({
    items: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          at: Type.String({ format: 'date-time' }),
          path: Type.String(),
          action: Type.Optional(Type.String()),
          from: Type.Optional(Type.String()),
          messageId: Type.Optional(Type.String()),
          verifies: Type.Boolean(),
          why: Type.Optional(Type.String()),
          headers: Type.Record(Type.String(), Type.String()),
          body: Type.Unknown(),
        },
        { title: 'InboxItem' },
      ),
    ),
    total: Type.Integer(),
  }),
};

const clearOperation: PlainOperation = { summary: 'Empty the inbox.', answers: { 204: 'It is empty.' } };
