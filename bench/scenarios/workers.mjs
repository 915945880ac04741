// Discover with one worker and with two, in turns: signed requests of all kinds, all different, from eight clients on the same machine. Beside the
// rate: the processor time per request of the service, of PostgreSQL, and of the clients, which sign more requests than they send. Each service has a
// separate database with the same stations.
//
// --size is the number of stations (100,000).
import { median } from '../measure.mjs';
import { createAsking } from '../search/requests.mjs';
import { seedOurs } from '../search/seed.mjs';
import * as stations from '../search/stations.mjs';
import { startService } from '../service.mjs';
import { chooseSizes } from '../sizes.mjs';
import { parentOf, processorTime } from '../support/processor-time.mjs';

const sizes = chooseSizes({
  whole: { resources: 100_000, samples: 600, secondsPerRate: 6, warmUpRounds: 4 },
  miniature: { resources: 90, samples: 12, secondsPerRate: 0.1, warmUpRounds: 1 },
});
const workers = [1, 2];

export async function* run({ repeat, size: resources = sizes.resources }) {
  const title = `discover in ${resources.toLocaleString('en-US')} stations`;
  const services = [];
  try {
    for (const count of workers) services.push(await open(count, resources));
    for (let round = 0; round < sizes.warmUpRounds; round += 1)
      for (const { ask } of services) await ask(sizes.secondsPerRate);
    const rounds = services.map(() => []);
    for (let round = 0; round < repeat; round += 1)
      for (const [index, service] of services.entries()) rounds[index].push(await measure(service));
    const [one, two] = rounds;
    yield { scenario: `${title}: one worker`, value: middle(one, 'rate'), unit: 'requests/s' };
    yield compare(`${title}: two workers`, 'requests/s', 'rate', one, two);
    for (const side of ['service', 'PostgreSQL', 'both', 'clients'])
      if (one[0].ms)
        yield compare(`${title}: two workers, processor time of ${side}`, 'ms/request', side, one, two);
  } finally {
    for (const { close } of services.reverse()) await close();
  }
}

async function open(count, resources) {
  let kept = [];
  const service = await startService({
    settings: { ROLES: 'registry,discovery', WORKERS: String(count) },
    prepare: async (database) => {
      ({ kept } = await seedOurs(database, stations, { resources, samples: sizes.samples }));
    },
  });
  const { rows } = await service.database.query('select pg_backend_pid() as id');
  const ask = await createAsking(service, stations, kept);
  return { ask, close: service.close, roots: { service: service.processId, postgres: parentOf(rows[0].id) } };
}

async function measure({ ask, roots }) {
  const before = takeTimes(roots);
  const { rate, answered } = await ask(sizes.secondsPerRate);
  const after = takeTimes(roots);
  if (after.service === undefined) return { rate };
  const ms = Object.fromEntries(
    Object.keys(after).map((side) => [side, (after[side] - before[side]) / answered]),
  );
  ms.both = ms.service + ms.PostgreSQL;
  return { rate, ms };
}

function takeTimes({ service, postgres }) {
  const { user, system } = process.cpuUsage();
  return {
    service: processorTime(service),
    PostgreSQL: processorTime(postgres),
    clients: (user + system) / 1000,
  };
}

function compare(scenario, unit, what, one, two) {
  const [compared, value] = [middle(one, what), middle(two, what)];
  return { scenario, value, unit, against: `one worker (${compared.toFixed(2)})`, ratio: value / compared };
}

function middle(rounds, what) {
  return median(rounds.map(({ rate, ms }) => (what === 'rate' ? rate : ms[what])));
}
