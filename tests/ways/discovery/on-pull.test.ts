import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { catalog } from '../../support/catalogs/sample-catalogs.ts';
import { newId } from '../../support/catalogs/small-catalogs.ts';
import type { Actor, Received } from '../../support/network/actor.ts';
import { held, type TestDiscovery } from '../../support/network/discovery.ts';
import type { TestNetwork } from '../../support/network/network.ts';
import type { PlayedService } from '../../support/network/played-service.ts';
import { completed, type Pulling, startPulling } from '../../support/network/pulling.ts';
import { watchFor } from '../../support/time.ts';

// Answers of a discovery service to good and bad on_pulls (catalog spec: POST /catalog/on_pull).

let pulling: Pulling;
let network: TestNetwork;
let service: PlayedService;
let stranger: Actor;
let discovery: TestDiscovery;
let answerWith: Pulling['answerWith'];

beforeAll(async () => {
  pulling = await startPulling();
  ({ network, service, stranger, discovery, answerWith } = pulling);
});
afterAll(() => pulling?.close());
afterEach(() => pulling.calm());

describe('POST /catalog/on_pull', () => {
  /** Runs a test while the discovery service waits for a pull; catalog `id` must not be applied. */
  async function whilePulling(
    test: (pull: Received, body: object, id: string) => Promise<void>,
  ): Promise<void> {
    const id = newId();
    service.catalogs = [];
    let failure: unknown;
    answerWith(async (pull) => {
      await test(pull, completed([catalog(id)], { total: 1, limit: 100, offset: 0 }), id).catch((error) => {
        failure = error;
      });
      await service.answer(pull, completed([], { total: 0, limit: 100, offset: 0 }));
    });
    await discovery.pull();
    if (failure) throw failure;
    expect(await held(network.database, id)).toBeUndefined();
  }

  it('400 CTX_INVALID_FIELD: answers no request of ours', () =>
    whilePulling(async (pull, body) => {
      const context = { messageId: randomUUID() };
      const unknown = await service.answer(pull, body, { context, unchained: true });
      expect([unknown.status, unknown.body.message.error]).toMatchObject([
        400,
        { code: 'CTX_INVALID_FIELD', details: { path: '$.context.messageId' } },
      ]);
      // If the chain names an unknown request, it cannot be verified at all.
      expect((await service.answer(pull, body, { context })).status).toBe(401);
    }));

  it('401: the chain names another request', () =>
    whilePulling(async (pull, body) => {
      const { status } = await service.answer(pull, body, { answering: service.pulls[0]?.signature });
      expect(status).toBe(401);
    }));

  it('400 CTX_INVALID_FIELD: the digest is that of another request', () =>
    whilePulling(async (pull, body) => {
      const digest = `BLAKE-512=${Buffer.alloc(64).toString('base64')}`;
      const wrong = await service.answer(pull, body, { digest });
      expect([wrong.status, wrong.body.message.error.details.path]).toEqual([
        400,
        '$.context.requestDigest.digest',
      ]);
    }));

  it('400 CTX_MISSING_FIELD: neither a chain nor a digest binds it to the request', () =>
    whilePulling(async (pull, body) => {
      const unbound = await service.answer(pull, body, { digest: null, unchained: true });
      expect([unbound.status, unbound.body.message.error.code]).toEqual([400, 'CTX_MISSING_FIELD']);
    }));

  it('403: comes from somebody who was not asked', () =>
    whilePulling(async (pull, body) => {
      const { status, body: answer } = await service.answer(pull, body, { as: stranger });
      expect([status, answer.message.error.code]).toEqual([403, 'AUT_UNAUTHORIZED_ACTION']);
    }));

  it('401: is large and chained, and comes from somebody who was not asked', () =>
    whilePulling(async (pull, body) => {
      const large = { ...body, padding: 'x'.repeat(100_000) };
      const { status, body: answer } = await service.answer(pull, large, { as: stranger });
      expect([status, answer.message.error.code]).toEqual([401, 'AUT_SIGNATURE_INVALID']);
      expect(answer.message.error.message).toContain('no request to its signer is open');
    }));

  it('200: is large and chained, and comes from the service that was asked', async () => {
    const id = newId();
    let status: number | undefined;
    answerWith(async (pull) => {
      const large = {
        ...completed([catalog(id)], { total: 1, limit: 100, offset: 0 }),
        padding: 'x'.repeat(100_000),
      };
      status = (await service.answer(pull, large)).status;
    });
    await discovery.pull();
    expect(status).toBe(200);
    expect(await held(network.database, id)).toBeDefined();
  });

  it('400: has both or neither of catalogs and downloadManifest, or a FAILED with results or without error', () =>
    whilePulling(async (pull, body) => {
      const manifest = {
        url: 'https://files.example/x',
        expiresAt: new Date(Date.now() + 60_000).toISOString(),
        format: 'json.gz',
        sizeBytes: 1,
        checksum: `sha256:${'0'.repeat(64)}`,
      };
      const codes = await Promise.all(
        [
          { ...body, downloadManifest: manifest },
          { status: 'COMPLETED' },
          { ...body, status: 'FAILED', error: { code: 'X', message: 'x' } },
          { status: 'FAILED' },
          { status: 'DONE' },
        ].map(async (message) => {
          const answer = await service.answer(pull, message);
          return [answer.status, answer.body.message.error.code];
        }),
      );
      expect(codes).toEqual([
        [400, 'SCH_SCHEMA_VALIDATION_FAILED'],
        [400, 'SCH_REQUIRED_FIELD_MISSING'],
        [400, 'SCH_SCHEMA_VALIDATION_FAILED'],
        [400, 'SCH_REQUIRED_FIELD_MISSING'],
        [400, 'SCH_INVALID_ENUM'],
      ]);
    }));

  it('200: the same one again does nothing again, and one that comes too late is acknowledged and not applied', async () => {
    const id = newId();
    let late: Received | undefined;
    answerWith(async (pull) => {
      late = pull;
      const body = completed([], { total: 0, limit: 100, offset: 0 });
      const context = { timestamp: new Date().toISOString() };
      const answers = await Promise.all([1, 2, 3].map(() => service.answer(pull, body, { context })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    });
    await discovery.pull();
    if (!late) throw new Error('nothing was pulled');
    const { status } = await service.answer(late, completed([catalog(id)]));
    expect(status).toBe(200);
    await watchFor(200);
    expect(await held(network.database, id)).toBeUndefined();
  });

  it('200: chained to the whole Authorization header of the pull, as a deployed service does', async () => {
    const id = newId();
    answerWith((pull) =>
      service.answer(pull, completed([catalog(id)], { total: 1, limit: 100, offset: 0 }), {
        answering: pull.authorization,
        digest: null,
      }),
    );
    await discovery.pull();
    expect(await held(network.database, id)).toBeDefined();
  });

  it('200: unchained, as deployed services send it, with the digest of the request', async () => {
    const id = newId();
    answerWith((pull) =>
      service.answer(pull, completed([catalog(id)], { total: 1, limit: 100, offset: 0 }), {
        unchained: true,
      }),
    );
    await discovery.pull();
    expect(await held(network.database, id)).toBeDefined();
  });
});
