import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { findCatalog } from '../../src/storage/catalog/catalogs.ts';
import { listChanges } from '../../src/storage/catalog/change-log.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import type { Actor } from '../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { publish, searched } from '../support/network/publish.ts';

// Publishes that are repeated, that follow each other, or that cannot be processed, and the records of them.

let network: TestNetwork;
let provider: Actor;

beforeAll(async () => {
  network = await startNetwork();
  provider = await network.actor('provider');
});
afterAll(() => network.close());

describe('repeats', () => {
  it('of the same request get the same answer, and are done once', async () => {
    const context = { messageId: randomUUID(), transactionId: 't', timestamp: new Date().toISOString() };
    const message = { catalogs: [catalog('repeated')] };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => provider.send(actions.publish, message, { context })),
    );
    for (const { status, body } of answers)
      expect({ status, body }).toMatchObject({ status: 200, body: { message: { status: 'ACK' } } });
    await provider.waitFor('catalog/on_publish', context.messageId);
    expect((await findCatalog(network.database, 'repeated'))?.version).toBe(1);
    const { rows } = await network.database.query('select from catalog.submission where message_id = $1', [
      context.messageId,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('CTX_MESSAGE_ID_DUPLICATE: another body under the same messageId is refused', async () => {
    const context = { messageId: randomUUID() };
    await provider.send(actions.publish, { catalogs: [catalog('first-body')] }, { context });
    const { status, body } = await provider.send(
      actions.publish,
      { catalogs: [catalog('second-body')] },
      { context },
    );
    expect({ status, code: body.message.error.code }).toEqual({
      status: 400,
      code: 'CTX_MESSAGE_ID_DUPLICATE',
    });
  });

  it('of the same content under a new messageId are ACCEPTED without a new version', async () => {
    await publish(provider, catalog('unchanged'));
    expect(await publish(provider, catalog('unchanged'), { updateMode: 'FULL' })).toMatchObject({
      status: 'ACCEPTED',
    });
    expect((await findCatalog(network.database, 'unchanged'))?.version).toBe(1);
  });
});

describe('order', () => {
  it("a publisher's submissions take effect entirely, one after the other, in the order of acceptance", async () => {
    const rounds = Array.from({ length: 30 }, (_, round) => round);
    const messageIds: string[] = [];
    for (const round of rounds) {
      const content = [plain('first', `round ${round}`), plain(`only-${round}`)];
      const message = {
        catalogs: [
          catalog('ordered-a', { resources: content }),
          catalog('ordered-b', { resources: content }),
        ],
        publishDirectives: ['ordered-a', 'ordered-b'].map((catalogId) => ({
          catalogId,
          catalogType: 'REGULAR',
          updateMode: 'FULL',
        })),
      };
      messageIds.push((await provider.send(actions.publish, message)).messageId);
    }
    await provider.waitFor('catalog/on_publish', messageIds.at(-1));
    for (const id of ['ordered-a', 'ordered-b']) {
      expect((await searched(provider, id)).resources).toEqual([
        plain('first', 'round 29'),
        plain('only-29'),
      ]);
      const row = await findCatalog(network.database, id);
      const changes = await listChanges(network.database, row?.key ?? 0, 100);
      expect(changes.map(({ submissionId }) => submissionId)).toEqual(
        changes.map(({ submissionId }) => submissionId ?? 0).sort((a, b) => b - a),
      );
    }
  });
});

describe('a catalog that cannot be processed', () => {
  it('NET_INTERNAL_ERROR: is REJECTED after some attempts, and does not hold up what comes after it', async () => {
    await network.database.query(`
      create function pg_temp_poison() returns trigger language plpgsql as $$ begin raise exception 'poison'; end $$;
      create trigger poison before insert on catalog.resource for each row when (new.id = 'poison') execute function pg_temp_poison()`);
    const { messageId } = await provider.send(actions.publish, {
      catalogs: [catalog('poisoned', { resources: [plain('poison')] })],
    });
    const after = publish(provider, catalog('after-the-poisoned'));
    const { body } = await provider.waitFor('catalog/on_publish', messageId);
    expect(body.message.results).toMatchObject([
      { catalogId: 'poisoned', status: 'REJECTED', errors: [{ code: 'NET_INTERNAL_ERROR' }] },
    ]);
    expect(await after).toMatchObject({ status: 'ACCEPTED' });
    expect(await searched(provider, 'poisoned')).toBeUndefined();
  });
});

describe('history', () => {
  it('has every accepted change with its sequence, time, publisher and version', async () => {
    await publish(provider, catalog('remembered', { resources: [plain('a')] }));
    await publish(provider, catalog('remembered', { resources: [plain('b')] }));
    const row = await findCatalog(network.database, 'remembered');
    const changes = await listChanges(network.database, row?.key ?? 0, 10);
    expect(changes).toMatchObject([
      {
        version: 2,
        publisher: 'provider.signpost.test/subscribers.beckn.one',
        kind: 'merged',
        at: expect.any(Date),
      },
      { version: 1, publisher: 'provider.signpost.test/subscribers.beckn.one' },
    ]);
  });
});
