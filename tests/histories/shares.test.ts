import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { identityOf } from '../../src/protocol/identity.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import type { Actor, Exchange } from '../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { publish, submit } from '../support/network/publish.ts';
import { patienceMs } from '../support/patience.ts';

// One publisher sends more than the service can process: its waiting work counts against its own share, and does not affect others.

const shares = { rows: 10, bytes: 64 * 1024 };
const backlogOfAll = 20;
const perSecond = 100;

let network: TestNetwork;
let flooder: Actor;
let honest: Actor;

beforeAll(async () => {
  network = await startNetwork({
    settings: {
      PUBLISHER_BACKLOG: String(shares.rows),
      PUBLISHER_BACKLOG_BYTES: String(shares.bytes),
      OVERLOAD_BACKLOG: String(backlogOfAll),
      RATE_LIMIT_PER_SECOND: String(perSecond),
    },
  });
});
afterAll(() => network.close());

let actors = 0;

async function newPair(): Promise<void> {
  actors += 1;
  [flooder, honest] = await Promise.all([
    network.actor(`flooder-${actors}`),
    network.actor(`honest-${actors}`),
  ]);
}

describe('a publisher whose publishes wait for each other', () => {
  it('holds only a part of the connections to the database meanwhile: others publish as ever', async () => {
    await newPair();
    await publish(flooder, catalog(`${flooder.id}-first`));
    const flood = await network.database.transaction(async (tx) => {
      const publisher = identityOf(flooder.id, network.config.REGISTRY_NAME);
      await tx.query('select from catalog.lane where publisher = $1 for update', [publisher]);
      const waiting = Array.from({ length: 40 }, () => tryToPublish(flooder));
      await vi.waitFor(async () => expect(await countLockWaits()).toBeGreaterThanOrEqual(8), patienceMs);
      expect(await publish(honest, catalog(`${honest.id}-beside`))).toMatchObject({ status: 'ACCEPTED' });
      return waiting;
    });
    await Promise.all(flood);
  });

  async function countLockWaits(): Promise<number> {
    const { rowCount } = await network.database.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rowCount;
  }
});

describe('a publisher with as much waiting as its share allows', () => {
  it('NET_OVERLOADED: is refused with Retry-After until some of it is processed; others publish and search as ever, and it searches too', async () => {
    await newPair();
    const release = await holdLane(flooder);
    for (let count = 0; count < shares.rows; count += 1) await submit(flooder, catalog(`waiting-${count}`));
    expectOverloaded(await tryToPublish(flooder));
    // After a refusal, further requests are refused before their body is parsed.
    expectOverloaded(await flooder.send(actions.publish, {}, { raw: Buffer.from('not JSON') }));
    expect(await publish(honest, catalog('not-delayed'))).toMatchObject({ status: 'ACCEPTED' });
    for (const anyone of [honest, flooder]) {
      expect((await anyone.send(actions.search, { filters: { type: 'REGULAR' } })).status).toBe(200);
      expect((await anyone.send(actions.listSubscriptions)).status).toBe(200);
    }
    await release();
    await vi.waitFor(async () => expect((await tryToPublish(flooder)).status).toBe(200), {
      timeout: patienceMs,
      interval: 500,
    });
  });

  it('has a share of bytes too, into which one publish always fits', async () => {
    await newPair();
    const large = plain('large', 'x'.repeat(shares.bytes));
    const release = await holdLane(flooder);
    await submit(flooder, catalog('larger-than-the-share', { resources: [large] }));
    expectOverloaded(await tryToPublish(flooder));
    await release();
  });

  it('stays within its share when it sends all at once', async () => {
    await newPair();
    const release = await holdLane(flooder);
    const answers = await Promise.all(Array.from({ length: 3 * shares.rows }, () => tryToPublish(flooder)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(shares.rows);
    await release();
  });
});

describe('when all publishers together have too much waiting', () => {
  it('NET_OVERLOADED: those with most waiting are refused, and who has nothing waiting is not', async () => {
    await newPair();
    const flooders = await Promise.all(
      Array.from({ length: 5 }, (_, index) => network.actor(`one-of-many-${index}`)),
    );
    const [first, second] = flooders as [Actor, Actor];
    const releases = await Promise.all([...flooders, flooder].map(holdLane));
    // More than the service accepts, half of its own share each: the last ones may be refused.
    for (let count = 0; count < shares.rows / 2; count += 1) await Promise.all(flooders.map(tryToPublish));
    await vi.waitFor(async () => expectOverloaded(await tryToPublish(first)), {
      timeout: patienceMs,
      interval: 1_000,
    });
    expectOverloaded(await tryToPublish(second));
    expect((await second.send(actions.search, { filters: { type: 'REGULAR' } })).status).toBe(200);
    await submit(flooder, catalog(`${flooder.id}-first`));
    await submit(flooder, catalog(`${flooder.id}-second`));
    expect(await publish(honest, catalog('not-refused'))).toMatchObject({ status: 'ACCEPTED' });
    await Promise.all(releases.map((release) => release()));
  });
});

describe('a publish of many catalogs', () => {
  it('AUT_RATE_LIMITED: counts once for each of them, against its sender alone', async () => {
    await newPair();
    const catalogs = Array.from({ length: 5 * perSecond }, (_, index) => catalog(`charged-${index}`));
    expect((await flooder.send(actions.publish, { catalogs })).status).toBe(200);
    const refused = await tryToPublish(flooder);
    expect([refused.status, refused.body.message.error.code]).toEqual([429, 'AUT_RATE_LIMITED']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect((await tryToPublish(honest)).status).toBe(200);
  });
});

describe('publishers with more to process than there are places', () => {
  it('take turns, also within a publish of many catalogs: another waits for turns, not for their ends', async () => {
    const each = 200;
    const heavy = await Promise.all(Array.from({ length: 4 }, (_, index) => network.actor(`heavy-${index}`)));
    await newPair();
    const catalogs = (as: Actor) => Array.from({ length: each }, (_, index) => catalog(`${as.id}-${index}`));
    const sent = await Promise.all(heavy.map((as) => as.send(actions.publish, { catalogs: catalogs(as) })));
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await publish(honest, catalog('between-the-turns'))).toMatchObject({ status: 'ACCEPTED' });
    const done = await network.database.query(
      'select from catalog.submission where message_id = any ($1) and done_at is not null',
      [sent.map(({ messageId }) => messageId)],
    );
    expect(done.rowCount).toBe(0);
    for (const [index, { messageId }] of sent.entries()) {
      const { body } = await (heavy[index] as Actor).waitFor('catalog/on_publish', messageId, 2 * patienceMs);
      expect(body.message.results).toHaveLength(each);
    }
  });
});

function tryToPublish(as: Actor): Promise<Exchange> {
  return as.send(actions.publish, { catalogs: [catalog(`${as.id}-more`)] });
}

function expectOverloaded({ status, body, headers }: Exchange): void {
  expect([status, body.message.error?.code]).toEqual([503, 'NET_OVERLOADED']);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
}

/** Keeps a publisher's submissions from being processed, like a lane with very long work; returns a function that ends this. */
async function holdLane({ id }: Actor): Promise<() => Promise<void>> {
  const publisher = identityOf(id, network.config.REGISTRY_NAME);
  await network.database.query(
    `insert into catalog.lane (publisher, lease_token, leased_until) values ($1, gen_random_uuid(), now() + interval '1 hour')`,
    [publisher],
  );
  return async () => {
    await network.database.query(
      'update catalog.lane set lease_token = null, leased_until = null where publisher = $1',
      [publisher],
    );
  };
}
