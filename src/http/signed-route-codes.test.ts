import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sampleContext, samplePublishMessage } from '../../tests/support/catalogs/sample-messages.ts';
import {
  createParticipant,
  createService,
  findKeyAmong,
  listen,
  type RunningServer,
  type Sent,
  type SignedOutgoing,
  send,
  sendSigned,
} from '../../tests/support/network/signed-service.ts';
import { changed, without } from '../../tests/support/values/changed.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import type { RememberedAnswer } from '../protocol/remembered.ts';
import { signRequest } from '../protocol/request-signature.ts';
import type { FindKey } from './authenticate.ts';
import { createRateLimits, type RateLimits } from './rate-limit.ts';
import { type SignedService, signedRoute } from './signed-route.ts';

// Each row of the specification's error table that any signed route can give, by the name of its code. Longer than our other tests: one
// table, one service on which each row is brought about.

const service = createParticipant('catalog.example.org');
const provider = createParticipant('bpp.example.org');
const stranger = createParticipant('other.example.org');
const registry = findKeyAmong([provider, stranger]);

let running: RunningServer;
let findKey: FindKey = registry;
let rateLimits: RateLimits | undefined;
let fail: unknown;
const memory = new Map<string, RememberedAnswer>();

beforeAll(async () => {
  const signed: SignedService = {
    ...createService(service, {
      findKey: (...asked) => findKey(...asked),
      recall: async (key) => memory.get(JSON.stringify(key)),
      limits: {
        clockSkewSeconds: 60,
        maxSignatureSeconds: 7_200,
        bodyBytes: 100_000,
        bulkBodyBytes: 200_000,
      },
    }),
    get rateLimits() {
      return rateLimits;
    },
  };
  running = await listen((server) => {
    signedRoute(server, signed, actions.publish, async ({ context, key, digest }) => {
      if (fail) throw fail;
      const body = JSON.stringify(ack(context.messageId));
      memory.set(JSON.stringify(key), { digest, status: 200, body });
      return { status: 200, body };
    });
    signedRoute(server, signed, actions.search, async () => ({ status: 200, body: {} }));
    signedRoute(server, signed, actions.listSubscriptions, async ({ query }) => ({
      status: 200,
      body: { query },
    }));
  });
});

afterAll(() => running.server.close());

beforeEach(() => {
  findKey = registry;
  rateLimits = undefined;
  fail = undefined;
});

describe('authentication', () => {
  it('AUT_SIGNATURE_MISSING: no Authorization header', async () => {
    const answer = await send(`${running.url}/catalog/publish`, { body: publishBody() });
    expectRefusal(answer, 401, 'AUT_SIGNATURE_MISSING');
  });

  it.each([
    ['another scheme', 'Bearer abc'],
    ['no attributes', 'Signature'],
    ['an unknown algorithm', signedBy().replace('algorithm="ed25519"', 'algorithm="rsa"')],
    ['an unknown algorithm in the keyId', signedBy().replace('|ed25519"', '|rsa"')],
    ['a space after a comma', signedBy().replace(',created', ', created')],
    ['attributes in another order', signedBy().replace(/(algorithm="[^"]*"),(created="[^"]*")/, '$2,$1')],
    ['a missing attribute', signedBy().replace(/expires="[^"]*",/, '')],
    ['a signature that is not Base64', signedBy().replace(/signature="[^"]*"/, 'signature="%%%"')],
    ['headers in another order', signedBy().replace('(created) (expires)', '(expires) (created)')],
  ])('AUT_SIGNATURE_INVALID: the header has %s', async (_what, authorization) => {
    const answer = await send(`${running.url}/catalog/publish`, {
      headers: { authorization },
      body: publishBody(),
    });
    expectRefusal(answer, 401, 'AUT_SIGNATURE_INVALID');
  });

  it('AUT_SIGNATURE_INVALID: the header is there twice, whatever both say', async () => {
    const body = publishBody();
    const authorization = signedBy(body);
    const answer = await send(`${running.url}/catalog/publish`, {
      headers: { authorization: [authorization, authorization] },
      body,
    });
    expectRefusal(answer, 401, 'AUT_SIGNATURE_INVALID', /more than one/);
  });

  it.each([
    ['has expired', -301, 300],
    ['was created too far in the future', 62, 300],
    ['is valid for longer than two hours', 0, 7_201],
  ])('AUT_SIGNATURE_INVALID: it %s', async (_what, offsetSeconds, lifetimeSeconds) => {
    const now = new Date(Date.now() + offsetSeconds * 1000);
    expectRefusal(await publish({ now, lifetimeSeconds }), 401, 'AUT_SIGNATURE_INVALID');
  });

  it('AUT_SIGNATURE_INVALID: it does not verify with the key of the keyId', async () => {
    const impostor = { ...provider, privateKey: stranger.privateKey };
    expectRefusal(await publish({ from: impostor }), 401, 'AUT_SIGNATURE_INVALID');
  });

  it('AUT_KEY_NOT_FOUND: the subscriber has no such key', async () => {
    expectRefusal(await publish({ from: { ...provider, recordId: 'key-2' } }), 401, 'AUT_KEY_NOT_FOUND');
  });

  it('AUT_KEY_NOT_FOUND: no registry can hold such a keyId, so none is asked', async () => {
    let asked = 0;
    findKey = async (...key) => {
      asked += 1;
      return await registry(...key);
    };
    expectRefusal(await publish({ from: { ...provider, subscriberId: '..' } }), 401, 'AUT_KEY_NOT_FOUND');
    expectRefusal(await publish({ from: { ...provider, recordId: 'a?b' } }), 401, 'AUT_KEY_NOT_FOUND');
    expect(asked).toBe(0);
  });

  it('AUT_KEY_EXPIRED_OR_REVOKED: the registry holds the key in a state in which it is not used', async () => {
    findKey = async () => ({ kind: 'unusable', reason: 'the key is in state revoked' });
    expectRefusal(await publish(), 401, 'AUT_KEY_EXPIRED_OR_REVOKED', /state revoked/);
  });

  it('AUT_SUBSCRIBER_NOT_FOUND: the registry does not know the subscriber', async () => {
    const nobody = createParticipant('nobody.example.org');
    expectRefusal(await publish({ from: nobody }), 401, 'AUT_SUBSCRIBER_NOT_FOUND');
  });

  it('a 401 carries the challenge', async () => {
    const answer = await send(`${running.url}/catalog/publish`, { body: publishBody() });
    expect(answer.headers['www-authenticate']).toBe(
      'Signature realm="catalog.example.org",headers="(created) (expires) digest"',
    );
  });

  it('AUT_UNAUTHORIZED_ACTION: the context names somebody else than who signed', async () => {
    const answer = await publish({ from: stranger });
    expectRefusal(answer, 403, 'AUT_UNAUTHORIZED_ACTION', /signed by other\.example\.org/, '$.context.bppId');
  });

  it('AUT_RATE_LIMITED: an identity sends more than its share', async () => {
    rateLimits = createRateLimits(1);
    expect([(await publish()).status, (await publish()).status]).toEqual([200, 200]);
    const answer = await publish();
    expectRefusal(answer, 429, 'AUT_RATE_LIMITED');
    expect(answer.headers['retry-after']).toBe('1');
  });

  it('NET_DOWNSTREAM_UNAVAILABLE: the registry could not be queried', async () => {
    findKey = async () => {
      throw new ProtocolError('NET_DOWNSTREAM_UNAVAILABLE', 'The registry could not be queried.', {
        retryAfterSeconds: 5,
      });
    };
    const answer = await publish();
    expectRefusal(answer, 503, 'NET_DOWNSTREAM_UNAVAILABLE');
    expect(answer.headers['retry-after']).toBe('5');
  });
});

describe('the body', () => {
  it.each([
    ['not JSON', '{"context":'],
    ['empty', ''],
    ['a member twice', '{"context":{},"context":{},"message":{}}'],
    ['a lone surrogate', '{"context":"\\ud800"}'],
    ['U+0000', '{"context":"\\u0000"}'],
    ['a number beyond double', '{"context":1e999}'],
    ['nested deeper than 64', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ])('SCH_INVALID_JSON: it is %s', async (_what, body) => {
    expectRefusal(await publish({ body }), 400, 'SCH_INVALID_JSON');
  });

  it('SCH_SCHEMA_VALIDATION_FAILED: it is valid JSON of another shape', async () => {
    expectRefusal(await publish({ body: '[]' }), 400, 'SCH_SCHEMA_VALIDATION_FAILED');
    expectRefusal(
      await publishWith(['message', 'catalogs'], 7),
      400,
      'SCH_SCHEMA_VALIDATION_FAILED',
      /array/,
      '$.message.catalogs',
    );
  });

  it('SCH_REQUIRED_FIELD_MISSING: a required field is missing', async () => {
    const answer = await publishWith(['message', 'catalogs', 0, 'provider'], undefined);
    expectRefusal(answer, 400, 'SCH_REQUIRED_FIELD_MISSING', /provider/, '$.message.catalogs[0].provider');
  });

  it('SCH_FIELD_NOT_ALLOWED: a field nobody knows', async () => {
    expectRefusal(
      await publishWith(['message', 'extra'], 1),
      400,
      'SCH_FIELD_NOT_ALLOWED',
      /extra/,
      '$.message.extra',
    );
    expectRefusal(await publishWith(['extra'], 1), 400, 'SCH_FIELD_NOT_ALLOWED', /extra/, '$.extra');
  });

  it('SCH_INVALID_ENUM: a value not in its enumeration', async () => {
    const answer = await publishWith(['message', 'publishDirectives', 0, 'catalogType'], 'OTHER');
    expectRefusal(answer, 400, 'SCH_INVALID_ENUM', /MASTER/, '$.message.publishDirectives[0].catalogType');
  });

  it('SCH_INVALID_FORMAT: a value not in its format', async () => {
    const answer = await publishWith(['message', 'catalogs', 0, 'bppUri'], 'not a uri');
    expectRefusal(answer, 400, 'SCH_INVALID_FORMAT', /URI/, '$.message.catalogs[0].bppUri');
  });

  it('SCH_SCHEMA_VALIDATION_FAILED: it is compressed, which we do not undo', async () => {
    const answer = await publish({ headers: { 'content-encoding': 'gzip' } });
    expectRefusal(answer, 400, 'SCH_SCHEMA_VALIDATION_FAILED', /Content-Encoding "gzip"/);
    expect((await publish({ headers: { 'content-encoding': 'identity' } })).status).toBe(200);
  });

  it('SCH_SCHEMA_VALIDATION_FAILED: a query parameter is out of range', async () => {
    const answer = await sendSigned(`${running.url}/catalog/subscription?limit=101`, {
      from: provider,
      method: 'GET',
    });
    expectRefusal(answer, 400, 'SCH_SCHEMA_VALIDATION_FAILED', /limit/);
    const fine = await sendSigned(`${running.url}/catalog/subscription?limit=100&other=x`, {
      from: provider,
      method: 'GET',
    });
    expect(fine.json).toMatchObject({ query: { limit: 100 } });
  });
});

describe('the context', () => {
  it('CTX_MISSING_FIELD: a required field is absent', async () => {
    expectRefusal(
      await publishWith(['context', 'transactionId'], undefined),
      400,
      'CTX_MISSING_FIELD',
      /transactionId/,
      '$.context.transactionId',
    );
    expectRefusal(await publishWith(['context'], undefined), 400, 'CTX_MISSING_FIELD');
  });

  it('CTX_INVALID_FIELD: a field has a bad value', async () => {
    const answer = await publishWith(['context', 'timestamp'], 'yesterday');
    expectRefusal(answer, 400, 'CTX_INVALID_FIELD', /timestamp/, '$.context.timestamp');
  });

  it('CTX_ACTION_MISMATCH: the action is another than that of the endpoint', async () => {
    const answer = await publishWith(['context', 'action'], 'catalog/pull');
    expectRefusal(answer, 400, 'CTX_ACTION_MISMATCH', /catalog\/publish/, '$.context.action');
  });

  it('CTX_VERSION_UNSUPPORTED: the version is none that we speak', async () => {
    expectRefusal(await publishWith(['context', 'version'], '1.1.0'), 400, 'CTX_VERSION_UNSUPPORTED');
  });

  it('CTX_TTL_EXPIRED: timestamp plus ttl has elapsed', async () => {
    const timestamp = new Date(Date.now() - 31_000).toISOString();
    const body = JSON.stringify(
      changed(changed(publishValue(), ['context', 'ttl'], 'PT30S'), ['context', 'timestamp'], timestamp),
    );
    expectRefusal(await publish({ body }), 400, 'CTX_TTL_EXPIRED');
  });

  it('CTX_MESSAGE_ID_DUPLICATE: the same messageId came before with another body', async () => {
    const messageId = randomUUID();
    const first = JSON.stringify(changed(publishValue(), ['context', 'messageId'], messageId));
    expect((await publish({ body: first })).status).toBe(200);
    const answer = await publish({ body: `${first} ` });
    expectRefusal(answer, 400, 'CTX_MESSAGE_ID_DUPLICATE', /messageId/, '$.context.messageId');
  });
});

describe('our own failures', () => {
  it('NET_INTERNAL_ERROR: shows that something failed, and nothing else', async () => {
    fail = new Error('password of the database is hunter2');
    const answer = await publish();
    expectRefusal(answer, 500, 'NET_INTERNAL_ERROR', /^internal error$/);
    expect(answer.text).not.toContain('hunter2');
  });
});

function publishValue(): unknown {
  const context = {
    ...sampleContext(actions.publish),
    messageId: randomUUID(),
    timestamp: new Date().toISOString(),
  };
  return { context, message: samplePublishMessage() };
}

function publishBody(): string {
  return JSON.stringify(publishValue());
}

function signedBy(body = publishBody()): string {
  return signRequest(provider, Buffer.from(body), { now: new Date() });
}

async function publish(outgoing: Partial<SignedOutgoing> = {}): Promise<Sent> {
  return await sendSigned(`${running.url}/catalog/publish`, {
    from: provider,
    body: publishBody(),
    ...outgoing,
  });
}

/** A publish in which one value is another one, or is missing. */
async function publishWith(at: (string | number)[], value: unknown): Promise<Sent> {
  const body = JSON.stringify(
    value === undefined ? without(publishValue(), at) : changed(publishValue(), at, value),
  );
  return await publish({ body });
}

function expectRefusal(answer: Sent, status: number, code: string, message = /./, path?: string): void {
  const error = answer.json.message?.error;
  expect([answer.status, error?.code, error?.message]).toEqual([
    status,
    code,
    expect.stringMatching(message),
  ]);
  expect(answer.json.message?.status).toBe('NACK');
  if (path !== undefined) expect(error?.details?.path).toBe(path);
}
