// The cost of telemetry: the same discovers and publishes on two services in turns, one without OTEL_EXPORTER_OTLP_ENDPOINT and one that exports
// traces, metrics and log to a collector. The measure is the service's processor time per request, which hardly depends on other load of the machine.
// And the cost of a traced function call when tracing is off.
//
// --size is the number of stations (20,000).
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { actions } from '../../dist/protocol/actions.js';
import { traced } from '../../dist/telemetry/tracing.js';
import { median } from '../measure.mjs';
import { createAsking } from '../search/requests.mjs';
import { seedOurs } from '../search/seed.mjs';
import * as stations from '../search/stations.mjs';
import { startService } from '../service.mjs';
import { chooseSizes } from '../sizes.mjs';
import { processorTime } from '../support/processor-time.mjs';

const sizes = chooseSizes({
  whole: { resources: 20_000, samples: 600, seconds: 6, publishes: 200, warmUpRounds: 2, calls: 2_000_000 },
  miniature: { resources: 90, samples: 12, seconds: 0.1, publishes: 4, warmUpRounds: 1, calls: 100 },
});
const publishers = 4;
/** The unit in which Linux counts processor time. */
const shortestMs = 10;

export async function* run({ repeat, size: resources = sizes.resources }) {
  yield await measureCall();
  const collector = await startCollector();
  const services = [];
  const closeAll = async () => {
    for (const { close } of services.splice(0).reverse()) await close();
  };
  try {
    for (const endpoint of ['', collector.url]) services.push(await open(endpoint, resources));
    const [off, on] = services;
    for (const work of ['discover', 'publish']) {
      for (let round = 0; round < sizes.warmUpRounds; round += 1)
        for (const service of services) await measure(service, work);
      const rounds = [];
      for (let round = 0; round < repeat; round += 1) {
        // The second one finds the machine warm, so they take turns at going first.
        const [first, second] = round % 2 === 0 ? [off, on] : [on, off];
        const [one, two] = [await measure(first, work), await measure(second, work)];
        rounds.push(round % 2 === 0 ? { off: one, on: two } : { off: two, on: one });
      }
      if (rounds[0].off === undefined) return;
      const without = median(rounds.map((round) => round.off));
      const unit = `ms of the processors/${work}`;
      yield { scenario: `${work} without telemetry`, value: without, unit };
      yield {
        scenario: `${work} with traces, metrics and log exported`,
        value: median(rounds.map((round) => round.on)),
        unit,
        against: `without (${without.toFixed(2)})`,
        ratio: median(rounds.map((round) => round.on / round.off)),
      };
    }
    // The rest is exported when the services end.
    await closeAll();
    if (collector.requests() === 0) throw new Error('nothing was exported');
  } finally {
    await closeAll();
    collector.close();
  }
}

/** A traced call when tracing is off, beside the same work alone. */
async function measureCall() {
  const work = async () => 1;
  const options = () => ({ scope: 'internal' });
  const time = async (call) => {
    const begin = performance.now();
    for (let n = 0; n < sizes.calls; n += 1) await call();
    return ((performance.now() - begin) * 1e6) / sizes.calls;
  };
  const rounds = [];
  for (let round = 0; round < 5; round += 1) {
    const alone = await time(work);
    rounds.push((await time(() => traced('work', options, work))) - alone);
  }
  return {
    scenario: 'a traced piece of work while nothing is traced',
    value: Math.max(0, median(rounds)),
    unit: 'ns more than the work alone',
  };
}

async function open(endpoint, resources) {
  let kept = [];
  const service = await startService({
    settings: { ROLES: 'registry,catalog,discovery', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
    prepare: async (database) => {
      ({ kept } = await seedOurs(database, stations, { resources, samples: sizes.samples }));
    },
  });
  const ask = await createAsking(service, stations, kept);
  const nodes = [];
  for (let n = 0; n < publishers; n += 1) nodes.push(await service.participant(`bpp-${n}`));
  return {
    processId: service.processId,
    close: service.close,
    discover: async () => (await ask(sizes.seconds)).answered,
    async publish() {
      await Promise.all(nodes.map(publishSome));
      return sizes.publishes;
    },
  };
}

/** The service's processor time per request; undefined where it cannot be measured. */
async function measure(service, work) {
  const before = processorTime(service.processId);
  const done = await service[work]();
  const after = processorTime(service.processId);
  return after === undefined ? undefined : Math.max(after - before, shortestMs) / Math.max(done, 1);
}

/** One after another, each until its on_publish. */
async function publishSome(node) {
  for (let n = 0; n < sizes.publishes / publishers; n += 1) {
    const id = `catalog-${randomUUID()}`;
    const resources = Array.from({ length: 10 }, (_, index) => ({
      id: `r${index}`,
      descriptor: { name: `Coffee ${index}` },
    }));
    const catalog = {
      ...{ id, descriptor: { name: id }, provider: { id: 'p', descriptor: { name: 'Provider' } } },
      resources,
    };
    const { callback } = await node.send(actions.publish, { catalogs: [catalog] }, 'bpp');
    const { message } = await callback;
    if (message.results[0].status !== 'ACCEPTED') throw new Error(JSON.stringify(message));
  }
}

/** Accepts everything, keeps nothing. */
async function startCollector() {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume().once('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests: () => requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
