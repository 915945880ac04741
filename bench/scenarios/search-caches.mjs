// The value of each search cache for new questions: the same questions with all caches, without each of them, and with none, both without writes and
// while resources are written. A ratio above 1 is slower than with all caches.
//
// --size is the number of stations (100,000).
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheNames } from '../../dist/search/cache/caches.js';
import { quantile } from '../measure.mjs';
import { evaluate } from '../search/job.mjs';
import { seedOurs, writeCatalogs } from '../search/seed.mjs';
import * as stations from '../search/stations.mjs';
import { startService } from '../service.mjs';
import { chooseSizes } from '../sizes.mjs';

const sizes = chooseSizes({
  whole: { resources: 100_000, samples: 600, warmUps: 500, questions: 100, tried: cacheNames },
  miniature: { resources: 90, samples: 12, warmUps: 13, questions: 2, tried: [] },
});
const ingestPerSecond = 200;
const catalogsPerWrite = 17;

export async function* run({ repeat, size: resources = sizes.resources }) {
  const measured = [];
  const service = await startService({
    settings: { ROLES: 'registry' },
    prepare: async (database, { url }) => {
      const { kept } = await seedOurs(database, stations, { resources, samples: 2 * sizes.samples });
      const [asked, changed] = [0, 1].map((rest) => kept.filter((_, index) => index % 2 === rest));
      const job = { data: 'stations', databaseUrl: url, kept: asked, isAlone: true, ...sizes };
      for (const isBusy of [false, true])
        measured.push({ isBusy, tables: await measureSets(database, { job, changed, repeat, isBusy }) });
    },
  });
  await service.close();
  for (const { isBusy, tables } of measured) {
    const title = `first-time questions in ${resources.toLocaleString('en-US')} stations${isBusy ? `, while ${ingestPerSecond} resources/s are written` : ''}`;
    printTable(title, tables);
    yield* rowsOf(title, tables);
  }
}

/** Every set of caches by its name. */
const sets = {
  'all caches': cacheNames,
  ...Object.fromEntries(
    sizes.tried.map((name) => [`without ${name}`, cacheNames.filter((other) => other !== name)]),
  ),
  none: [],
};

/** Alternates the sets, so that a noisy machine affects all alike. Returns the times in ms by set and kind. */
async function measureSets(database, { job, changed, repeat, isBusy }) {
  const tables = Object.fromEntries(Object.keys(sets).map((name) => [name, {}]));
  const perRound = Math.ceil(sizes.questions / repeat);
  for (let round = 0; round < repeat; round += 1)
    for (const [name, usedCaches] of Object.entries(sets)) {
      const stop = isBusy ? ingest(database, changed) : async () => {};
      const { kinds } = await evaluate({ ...job, usedCaches, rounds: 1, perRound, skip: round * perRound });
      await stop();
      for (const { name: kind, times } of kinds)
        tables[name][kind] = [...(tables[name][kind] ?? []), ...times.ours];
    }
  return tables;
}

/** Each write starts on schedule, unless the previous one has not ended. */
function ingest(database, changed) {
  const everyMs = (1000 * catalogsPerWrite * stations.resourcesPerCatalog) / ingestPerSecond;
  let isStopped = false;
  const loop = async () => {
    for (let next = 0; !isStopped; next += catalogsPerWrite) {
      const begin = performance.now();
      const catalogs = Array.from({ length: catalogsPerWrite }, (_, index) => {
        const { catalog } = stations.changed(changed[(next + index) % changed.length], randomUUID());
        return catalog;
      });
      await writeCatalogs(database, catalogs, 'MERGE');
      await sleep(Math.max(0, begin + everyMs - performance.now()));
    }
  };
  const running = loop();
  return async () => {
    isStopped = true;
    await running;
  };
}

function printTable(title, tables) {
  const names = Object.keys(tables);
  const lines = Object.keys(tables['all caches']).map((kind) => [
    kind,
    ...names.map((name) => quantile(tables[name][kind], 50).toFixed(1)),
  ]);
  const table = [['kind', ...names], ['---', ...names.map(() => '---')], ...lines];
  console.error(`${title}, p50 in ms:\n${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`);
}

/** For each set, the kind of question that it slows down most. */
function* rowsOf(title, { 'all caches': all, ...others }) {
  for (const [name, table] of Object.entries(others)) {
    const kinds = Object.entries(table).map(([kind, times]) => {
      const [value, compared] = [quantile(times, 50), quantile(all[kind], 50)];
      return { kind, value, compared, ratio: value / compared };
    });
    const [{ kind, value, compared, ratio }] = kinds.sort((a, b) => b.ratio - a.ratio);
    const against = `all caches (${compared.toFixed(2)} ms)`;
    yield { scenario: `${title}, ${name}: ${kind}`, value, unit: 'ms', against, ratio };
  }
}
