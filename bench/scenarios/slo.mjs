// Load, compared with the goals of a discovery service in operation: pushes and discovers side by side, with each p99 and its margin; a quarter of an
// hour without a pause, with the memory at its end; overload; very many subscribers, one of them slow; a node with very many catalogs.
//
// --size is the number of stations (100,000).

import { atMost } from '../load/goals.mjs';
import { measureLargeNode } from '../load/large-node.mjs';
import { measureManySubscribers } from '../load/many-subscribers.mjs';
import { measureOverload } from '../load/overload.mjs';
import { measureParallel, openClients } from '../load/parallel.mjs';
import { seedOurs } from '../search/seed.mjs';
import * as stations from '../search/stations.mjs';
import { openPostgres, startService } from '../service.mjs';
import { chooseSizes, sizeFrom } from '../sizes.mjs';

const sizes = chooseSizes({
  whole: {
    resources: 100_000,
    samples: 1_200,
    clients: 30,
    warmUpSeconds: 20,
    seconds: 60,
    saturationSeconds: sizeFrom('BENCH_SATURATION_SECONDS', 900),
    overload: { identities: 3, connections: 130, seconds: 20 },
    subscribers: { subscribers: 2_000, catalogs: 5, resourcesPerCatalog: 20 },
    largeNode: { catalogs: 10_000, resources: 5, nodes: 100 },
  },
  miniature: {
    resources: 90,
    samples: 12,
    clients: 2,
    warmUpSeconds: 0.1,
    seconds: 2,
    saturationSeconds: 0.5,
    overload: { identities: 2, connections: 2, seconds: 0.3 },
    subscribers: { subscribers: 3, catalogs: 1, resourcesPerCatalog: 2 },
    largeNode: { catalogs: 4, resources: 1, nodes: 2 },
  },
});
const pauseMs = 1_000;
/** Ratio to the memory in the middle of the run. */
const flat = 1.1;
/** The default limits. The bench raises them elsewhere. */
const limits = {
  RATE_LIMIT_PER_SECOND: '200',
  TIME_LIMIT_MS_PER_SECOND: '500',
  BYTE_LIMIT_PER_SECOND: '64mb',
};

export async function* run({ repeat, size: resources = sizes.resources }) {
  const postgres = await openPostgres();
  try {
    let kept = [];
    const prepare = async (database) => {
      ({ kept } = await seedOurs(database, stations, { resources, samples: sizes.samples }));
    };
    const title = `${sizes.clients} pushing and ${sizes.clients} asking in ${resources.toLocaleString('en-US')} stations`;
    yield* withService({ postgres, prepare, settings: limits }, async function* (service) {
      const clients = await openClients(service, { data: stations, kept, clients: sizes.clients });
      yield* paced(clients, title);
      yield* measureOverload(service, { data: stations, kept, ...sizes.overload });
    });
    yield* withService({ postgres }, async function* (service) {
      const clients = await openClients(service, { data: stations, kept, clients: sizes.clients });
      yield* saturated(service, clients, title);
    });
  } finally {
    await postgres.close();
  }
  yield* measureManySubscribers({ ...sizes.subscribers, repeat });
  yield* measureLargeNode(sizes.largeNode);
}

async function* paced(clients, title) {
  const warmUp = { title, pauseMs: 0, seconds: sizes.warmUpSeconds };
  for await (const _ of measureParallel(clients, warmUp));
  yield* measureParallel(clients, { title, pauseMs, seconds: sizes.seconds, hasGoals: true });
}

async function* saturated(service, clients, title) {
  const rows = [];
  const whole = { title: `${title}, without a pause`, pauseMs: 0 };
  for await (const _ of measureParallel(clients, { ...whole, seconds: sizes.warmUpSeconds }));
  const { middle, end } = await service.watchMemory(async () => {
    for await (const row of measureParallel(clients, { ...whole, seconds: sizes.saturationSeconds }))
      rows.push(row);
  });
  yield* rows;
  const minutes = (sizes.saturationSeconds / 60).toLocaleString('en-US', { maximumFractionDigits: 1 });
  yield atMost(flat, {
    scenario: `memory of the service after ${minutes} minutes of that, of that in the middle (${Math.round(middle / 1e6)} MB)`,
    value: end / middle,
    unit: 'times',
  });
}

async function* withService({ settings, ...options }, measure) {
  const service = await startService({
    ...options,
    settings: { ROLES: 'registry,discovery', LOG_LEVEL: 'error', ...settings },
  });
  try {
    yield* measure(service);
  } finally {
    await service.close();
  }
}
