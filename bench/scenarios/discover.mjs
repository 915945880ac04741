// Discover, from the signed request to the stored answer (its ACK), for each kind of intent, against the SQL that somebody would write by hand
// for that kind on a plain table. Then all kinds mixed, a full scan of the plain table, and how long after its push a change is found.
//
// BENCH_RESOURCES says how many resources the index holds (100,000), and BENCH_DATA=products that they are real products instead of generated
// stations. Every question is made from a catalog of the index, so that it finds something, and asks for a page of 20. Each is asked for the first
// time, which is told by itself, and then again and again: a process remembers what it has read. A ratio above 1 is slower than the yardstick.
import { randomUUID } from 'node:crypto';
import { actions } from '../../dist/protocol/actions.js';
import { writeIndex } from '../../dist/search/port.js';
import { median, ratePerSecond } from '../measure.mjs';
import { startService } from '../service.mjs';
import { chooseSizes, sizeFrom } from '../sizes.mjs';
import * as products from '../support/discover-products.mjs';
import { limit } from '../support/discover-questions.mjs';
import * as stations from '../support/discover-stations.mjs';

const isOfProducts = process.env.BENCH_DATA === 'products';
const data = isOfProducts ? products : stations;
const { kinds } = data;
const networkId = 'bench.org/discover';
const pusher = 'pusher';
/** Catalogs name who publishes them: otherwise a push would be of the service's own, and take the place of the whole catalog. */
const provider = 'provider.bench';
/**
 * `samples` is how many catalogs are asked about. Others are asked about to warm up the service, for half a minute: one that runs for days is
 * measured when it is warm.
 */
const { resources, samples, warmUps, questionsPerRound, pushes, secondsPerRate } = chooseSizes({
  whole: {
    resources: sizeFrom('BENCH_RESOURCES', 100_000),
    samples: 300,
    warmUps: 7_000,
    questionsPerRound: 60,
    pushes: 200,
    secondsPerRate: 3,
  },
  miniature: {
    resources: 60,
    samples: 3,
    warmUps: 7,
    questionsPerRound: 2,
    pushes: 2,
    secondsPerRate: 0.02,
  },
});
/** A slow yardstick is not asked for longer at a time. */
const patienceMs = 5_000;
const concurrency = 8;
/** More than are answered, as a rule. */
const readyPerSecond = 700;

export async function* run({ repeat }) {
  if (isOfProducts && !products.isThere) {
    console.error('bench: discover in products is skipped: TEST_DATA_DIR does not have them');
    return;
  }
  const asked = [];
  const others = [];
  const service = await startService({
    settings: { ROLES: 'registry,discovery' },
    prepare: (database) => seed(database, { asked, others }),
  });
  try {
    const consumer = await service.participant('consumer', {
      to: service.discoveryUrl,
      ignoresCallbacks: true,
    });
    const any = Object.values(kinds);
    for (let n = 0; n < warmUps; n += 1)
      await timeOf(consumer, any[n % any.length].ask(others[Math.floor(n / any.length) % others.length]));
    const size = `${resources.toLocaleString('en-US')}${isOfProducts ? ' products' : ''}`;
    for (const [name, kind] of Object.entries(kinds))
      yield* await measure(`discover in ${size}: ${name}`, kind, { repeat, service, consumer, asked });
    const mixed = (n, catalog) => any[n % any.length].ask(catalog);
    const rates = await times(repeat, () => rate(consumer, asked, mixed));
    yield { scenario: `discover in ${size}: all kinds mixed`, value: median(rates), unit: 'requests/s' };
    console.error(`bench: mixed, in each round: ${rates.map(Math.round).join(', ')} requests/s`);
    yield {
      scenario: `a full scan of ${size} in SQL`,
      value: await elapsed(() => service.database.query(data.plainScan)),
      unit: 'ms',
    };
    yield* await pushToSearchable(`push into ${size}, until discover finds it`, service, consumer, asked);
  } finally {
    await service.close();
  }
}

/** Ours and the plain SQL in turn, so that a noisy machine disturbs both alike. */
async function measure(scenario, { ask, plain }, { repeat, service, consumer, asked }) {
  const catalog = () => asked[Math.floor(Math.random() * asked.length)];
  const ours = () => timeOf(consumer, ask(catalog()));
  const sql = () => {
    const { text, values } = plain(catalog());
    return elapsed(async () => {
      const { rowCount } = await service.database.query(text, values, { prepared: true });
      if (rowCount === 0) throw new Error(`finds nothing: ${text}`);
    });
  };
  const first = [];
  for (const one of asked) first.push(await timeOf(consumer, ask(one)));
  await times(questionsPerRound, sql, patienceMs);
  const taken = { ours: [], plain: [] };
  for (let round = 0; round < repeat; round += 1) {
    taken.ours.push(...(await times(questionsPerRound, ours)));
    taken.plain.push(...(await times(questionsPerRound, sql, patienceMs)));
  }
  const row = (percentile) => {
    const value = quantile(taken.ours, percentile);
    const compared = quantile(taken.plain, percentile);
    return {
      scenario: `${scenario}, p${percentile}`,
      value,
      unit: 'ms',
      against: `SQL on a plain table (${compared.toFixed(2)} ms)`,
      ratio: value / compared,
    };
  };
  return [
    { scenario: `${scenario}, asked for the first time, p50`, value: quantile(first, 50), unit: 'ms' },
    row(50),
    row(99),
    {
      scenario: `${scenario}, ${concurrency} at a time`,
      value: await rate(consumer, asked, (_, one) => ask(one)),
      unit: 'requests/s',
    },
  ];
}

/** The request is signed before the clock starts. */
async function timeOf(consumer, intent) {
  const request = consumer.prepare(actions.discover, { intent, limit });
  return elapsed(() => send(consumer, request));
}

async function send(consumer, request) {
  const { response } = await consumer.post(request);
  await response.body.arrayBuffer();
}

/** Here, too, requests are signed before the clock starts; only should they not be enough, others are signed meanwhile. */
async function rate(consumer, asked, ask) {
  const prepare = (n) =>
    consumer.prepare(actions.discover, { intent: ask(n, asked[(n * 7) % asked.length]), limit });
  const ready = Array.from({ length: readyPerSecond * secondsPerRate }, (_, n) => prepare(n));
  let next = 0;
  const work = () => {
    const n = next++;
    return send(consumer, ready[n] ?? prepare(n));
  };
  return ratePerSecond(work, { concurrency, seconds: secondsPerRate });
}

/** A resource of a held catalog gets a mark; the clock runs until discover finds it by that. */
async function pushToSearchable(scenario, service, consumer, asked) {
  const sender = await service.participant(pusher, { to: service.discoveryUrl, ignoresCallbacks: true });
  const push = async (n) => {
    const { catalog, intent } = data.changed(asked[n % asked.length], randomUUID());
    const directive = {
      catalogId: catalog.id,
      catalogType: 'REGULAR',
      updateMode: 'MERGE',
      visibleTo: [networkId],
    };
    const message = { catalogs: [catalog], publishDirectives: [directive] };
    const pushed = sender.prepare(actions.push, message, 'bpp');
    const question = consumer.prepare(actions.discover, { intent });
    return elapsed(async () => {
      await send(sender, pushed);
      await send(consumer, question);
    });
  };
  let next = 0;
  const taken = await times(pushes, () => push(next++));
  return [50, 99].map((percentile) => ({
    scenario: `${scenario}, p${percentile}`,
    value: quantile(taken, percentile),
    unit: 'ms',
  }));
}

async function elapsed(work) {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** So many times, unless that takes too long. */
async function times(count, work, maxMs = Number.POSITIVE_INFINITY) {
  const results = [];
  const end = performance.now() + maxMs;
  for (let n = 0; n < count && performance.now() < end; n += 1) results.push(await work());
  return results;
}

function quantile(numbers, percentile) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percentile) / 100))];
}

/** By the one door of the index, as if a catalog service had pushed them; some catalogs are kept to be asked about. */
async function seed(database, { asked, others }) {
  const source = `service:${pusher}.bench/subscribers.beckn.one`;
  const begin = performance.now();
  let made = 0;
  let batch = [];
  const apply = async () => {
    const incoming = batch.map((catalog) => ({
      source,
      owner: `${provider}/subscribers.beckn.one`,
      type: 'REGULAR',
      networks: [networkId],
      mode: 'FULL',
      catalog,
    }));
    await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply(incoming)));
    batch = [];
  };
  const every = Math.max(2, Math.floor(resources / data.resourcesPerCatalog / samples));
  let count = 0;
  for await (const generated of data.catalogs({ resources })) {
    const catalog = { ...generated, bppId: provider };
    made += catalog.resources.length;
    batch.push(catalog);
    if (count % every === 0) asked.push(catalog);
    if (count % every === 1) others.push(catalog);
    count += 1;
    if (batch.length === data.catalogsAtOnce) await apply();
  }
  await apply();
  const seconds = (performance.now() - begin) / 1000;
  console.error(`bench: ${made} resources indexed, ${Math.round(made / seconds)} per second`);
  await database.query('create schema plain');
  await data.makePlainTable(database);
  await database.query('vacuum analyze');
}
