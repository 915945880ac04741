import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import type { Catalog, Resource } from '../../src/protocol/catalog.ts';
import { writeIndex } from '../../src/search/port.ts';
import type { Actor, Exchange } from '../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { keepWarnings } from '../support/processes/kept-log.ts';
import { takeTime, until } from '../support/time.ts';
import { comb } from '../support/values/costly-geometries.ts';

// Intents that are designed to be slow: each ends at its deadline, and others are answered meanwhile. Services and tests run in one process here, so
// a blocked service also blocks this test's clock.

const timeoutMs = 2_500;
/** Additional time for a busy machine; without the deadline, each would take minutes. */
const graceMs = 10_000;

const { logger, warnings } = keepWarnings();
let network: TestNetwork;
let consumer: Actor;

beforeAll(async () => {
  network = await startNetwork({ logger, settings: { DISCOVER_TIMEOUT_MS: String(timeoutMs) } });
  consumer = await network.actor('shopper');
  await network.database.transaction((tx) =>
    writeIndex(tx, new Date(), ({ apply }) =>
      apply(
        [catalog('simple', [{ id: 'simple-1', descriptor: { name: 'Simple' } }]), ...heavyCatalogs()].map(
          (one) => ({
            source: 'service:catalog.signpost.test/subscribers.beckn.one',
            owner: 'provider.signpost.test/subscribers.beckn.one',
            type: 'REGULAR',
            networks: [],
            mode: 'FULL',
            catalog: one,
          }),
        ),
      ),
    ),
  );
  // Makes sure that a thread is running, and that every statement is planned.
  await until(async () => (await discover(shallow)).status === 200);
});
afterAll(() => network.close());

const simple = filter("$.catalogs[*].resources[?@.id == 'simple-1']");
/** It looks at whole catalogs, so a worker thread evaluates it. */
const shallow = filter("$.catalogs[?@.id == 'simple'].resources[?count($.catalogs[*].resources[*]) == 1]");
const costly = filter('$.catalogs[*].resources[?count($..*..*..*..*) > 1]');
const expression = '$.message.intent.filters.expression';

describe('discover ends at its deadline, while others go on:', () => {
  it('a filter that multiplies what it looks at', async () => {
    await endsAtItsDeadline(costly, expression);
  });

  it('a filter that looks at each resource by itself', async () => {
    const slow = filter('$.catalogs[*].resources[?count(@..*..*..*..*..*) == 1]');
    await endsAtItsDeadline(slow, expression);
  });

  it('a regular expression on long texts', async () => {
    const slow = filter("$.catalogs[*].resources[?match(@.descriptor.longDesc, '((a|b)*a(a|b){300})+c')]");
    await endsAtItsDeadline(slow, expression);
  });

  it.each([
    ['a polygon whose edges cross all those of stored ones', 400],
    ['a small polygon whose edges cross all those of stored ones', 40],
  ])('%s, and the log names the one that it was compared with', async (_, teeth) => {
    warnings.length = 0;
    const geometry = comb(teeth, [50, 10], { isUpright: false });
    const slow = { intent: { spatial: [{ op: 'S_OVERLAPS', targets: areas, geometry }] } };
    // On a busy machine the time may be over before the first comparison.
    const line = await until(async () => {
      await endsAtItsDeadline(slow, '$.message.intent.spatial');
      return warnings.find(({ says }) => says === 'a geometry was not compared in time');
    }, 'the log to name a geometry');
    expect(line).toMatchObject({
      owner: 'provider.signpost.test/subscribers.beckn.one',
      catalogId: 'areas',
      id: expect.stringMatching(/^area-\d+$/),
      path: areas,
    });
    expect(JSON.stringify(line)).not.toContain('coordinates');
  });

  it('more of them than there are threads: those that got no turn are told to come again', async () => {
    const begin = performance.now();
    const greedy = await network.actor(`greedy-${randomUUID()}`);
    const all = Promise.all(Array.from({ length: 40 }, () => discover(costly, greedy)));
    await answersMeanwhile(all);
    const answers = await all;
    // Waiting may take as long as an evaluation.
    expect(performance.now() - begin).toBeLessThan(2 * timeoutMs + graceMs);
    const isFor = (status: number) => answers.filter((answer) => answer.status === status);
    // Searches that were evaluated.
    const evaluated = isFor(504).length;
    for (const { body, headers } of isFor(503)) {
      expect(body.message.error.code).toBe('NET_OVERLOADED');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // There are only a few threads, each with time for two: no search waits longer than one evaluation.
    expect(evaluated).toBeLessThan(20);
    expect(isFor(503)).toHaveLength(answers.length - evaluated);
  });
});

it('a statement that PostgreSQL does not finish in time is ended there with its request', async () => {
  const begin = performance.now();
  const answer = await network.database.transaction(async (tx) => {
    await tx.query('lock table index_1.word in access exclusive mode');
    return discover({ intent: { textSearch: 'simple' } });
  });
  expect(answer.body.message).toMatchObject({ status: 'NACK', error: { code: 'NET_TIMEOUT' } });
  expect(performance.now() - begin).toBeLessThan(timeoutMs + graceMs);
  const { rows } = await network.database.query(
    "select count(*) as count from pg_stat_activity where datname = current_database() and state = 'active' and query like '%index_1.word%' and pid <> pg_backend_pid()",
  );
  expect(rows).toEqual([{ count: 0 }]);
  expect(await discover({ intent: { textSearch: 'simple' } })).toMatchObject({ status: 200 });
});

it('what came close is not waited for: who found nothing is told so in time', async () => {
  const nowhere = filter("$.catalogs[*].resources[?@.nme == 'x']");
  const other = new pg.Client(network.databaseUrl);
  await other.connect();
  try {
    await other.query('begin; lock table discovery.offer in access exclusive mode');
    const start = performance.now();
    const answer = await discover(nowhere);
    expect(performance.now() - start).toBeLessThan(timeoutMs + graceMs);
    expect(answer.body.message.error).toEqual({
      code: 'BIZ_NO_RESULTS_FOUND',
      message: 'Nothing matches the intent.',
    });
  } finally {
    await other.end();
  }
});

async function endsAtItsDeadline(slow: object, path: string): Promise<void> {
  const begin = performance.now();
  const answer = discover(slow);
  await answersMeanwhile(answer);
  const error = { code: 'NET_TIMEOUT', details: { path } };
  expect(await answer).toMatchObject({ status: 504, body: { message: { status: 'NACK', error } } });
  expect(performance.now() - begin).toBeLessThan(timeoutMs + graceMs);
}

/** Repeats something simple until it succeeds: even on a busy machine, it does not wait for another search's deadline. */
async function answersMeanwhile(slow: Promise<unknown>): Promise<void> {
  let isDone = false;
  slow.finally(() => {
    isDone = true;
  });
  let longestMs = 0;
  let answered = 0;
  while (!isDone) {
    const begin = performance.now();
    const { status } = await discover(simple);
    longestMs = Math.max(longestMs, performance.now() - begin);
    expect(status).toBe(200);
    answered += 1;
    await takeTime(10);
  }
  expect(answered).toBeGreaterThan(1);
  expect(longestMs).toBeLessThan(timeoutMs);
}

function discover(message: object, asker = consumer): Promise<Exchange> {
  return asker.send(actions.discover, message, { to: network.discoveryUrl });
}

function filter(text: string): { intent: object } {
  return { intent: { filters: { type: 'jsonpath', expression: text } } };
}

const areas = '$.catalogs[*].resources[*].area';

function heavyCatalogs(): Catalog[] {
  const many = (count: number, make: (index: number) => object) =>
    Array.from({ length: count }, (_, index) => make(index) as Resource);
  const longDesc = noise(20_000);
  return [
    catalog(
      'texts',
      many(40, (index) => ({ id: `text-${index}`, descriptor: { name: 'Text', longDesc } })),
    ),
    catalog(
      'deep',
      many(300, (index) => ({ id: `deep-${index}`, deep: nested(40) })),
    ),
    catalog(
      'areas',
      many(20, (index) => ({ id: `area-${index}`, area: comb(300, [50 + index / 100, 10]) })),
    ),
  ];
}

/** No part resembles another: results for one do not help with the next. */
function noise(length: number): string {
  let state = 1;
  const letters = Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 2 === 0 ? 'a' : 'b';
  });
  return letters.join('');
}

function nested(depth: number): object {
  return depth === 0 ? {} : { more: nested(depth - 1) };
}

function catalog(id: string, resources: Resource[]): Catalog {
  return { id, descriptor: { name: id }, provider: { id, descriptor: { name: id } }, resources };
}
