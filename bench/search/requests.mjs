// The discovery service as consumers use it: signed requests over HTTP, of all kinds in turn and all different, eight at a time, both without writes
// and while resources are pushed; and how long after its push a change is found.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { actions } from '../../dist/protocol/actions.js';
import { median, quantile, ratePerSecond } from '../measure.mjs';
import { networkId, provider, pusher } from './seed.mjs';

const concurrency = 8;
/** Usually more than are answered. */
const readyPerSecond = 700;
const warmUpRounds = 4;
const ingestPerSecond = 200;
const resourcesPerPush = 50;

export async function* measureRequests(
  service,
  data,
  { title, asked, changed, repeat, secondsPerRate, pushes },
) {
  const consumer = await service.participant('consumer', {
    to: service.discoveryUrl,
    ignoresCallbacks: true,
  });
  const sender = await service.participant(pusher, { to: service.discoveryUrl, ignoresCallbacks: true });
  const ask = createRotation(data, asked);
  const mixed = () => rate(consumer, ask, secondsPerRate);
  // Warms up, like a service that runs for days.
  for (let round = 0; round < warmUpRounds; round += 1) await mixed();

  const quiet = [];
  const { end } = await service.watchMemory(async () => {
    for (let round = 0; round < repeat; round += 1) quiet.push(await mixed());
  });
  yield* rows(`${title}: all kinds mixed, ${concurrency} clients`, quiet);
  yield { scenario: `${title}: memory of the process after it`, value: end / 1e6, unit: 'MB' };

  const push = createPush({ sender, consumer, data, changed });
  const alone = [];
  for (let n = 0; n < pushes; n += 1) alone.push(await push(1));
  yield* found(`${title}: push until discover finds it`, alone);

  const busy = [];
  const meanwhile = [];
  const ingested = [];
  for (let round = 0; round < repeat; round += 1) {
    const stopIngest = ingest(push, meanwhile);
    busy.push(await mixed());
    ingested.push(await stopIngest());
  }
  const against = `without (${Math.round(rateOf(quiet))} requests/s)`;
  yield* rows(`${title}: the same while ${ingestPerSecond} resources/s are pushed`, busy, {
    against,
    ratio: rateOf(busy) / rateOf(quiet),
  });
  yield { scenario: `${title}: really pushed meanwhile`, value: median(ingested), unit: 'resources/s' };
  yield* found(`${title}: push until discover finds it, meanwhile`, meanwhile);
}

/** Asks for some seconds; returns how many requests were answered, in total and per second. */
export async function createAsking(service, data, asked) {
  const to = service.discoveryUrl;
  const consumer = await service.participant('consumer', { to, ignoresCallbacks: true });
  const ask = createRotation(data, asked);
  return async (seconds) => {
    const measured = await rate(consumer, ask, seconds);
    return { ...measured, answered: measured.rate * seconds };
  };
}

function* rows(scenario, rounds, compared = {}) {
  console.error(`bench: in each round: ${rounds.map(({ rate }) => Math.round(rate)).join(', ')} requests/s`);
  yield { scenario, value: rateOf(rounds), unit: 'requests/s', ...compared };
  const refused = rounds.reduce((sum, { refused }) => sum + refused, 0);
  if (refused > 0) yield { scenario: `${scenario}: refused`, value: refused, unit: 'requests' };
}

function rateOf(rounds) {
  return median(rounds.map(({ rate }) => rate));
}

function found(scenario, taken) {
  return [50, 99].map((percentile) => ({
    scenario: `${scenario}, p${percentile}`,
    value: quantile(taken, percentile),
    unit: 'ms',
  }));
}

/** Continues from round to round, so that a question repeats only after all were asked. */
export function createRotation(data, asked) {
  const { 'no limit': _, ...limited } = data.questionsOf(asked);
  const kinds = Object.values(limited);
  let next = 0;
  return () => {
    const n = next++;
    const questions = kinds[n % kinds.length];
    return questions[Math.floor(n / kinds.length) % questions.length].message;
  };
}

/** Requests are signed before the clock starts; if they run out, more are signed meanwhile. */
async function rate(consumer, ask, seconds) {
  const prepare = () => consumer.prepare(actions.discover, ask());
  const ready = Array.from({ length: Math.ceil(readyPerSecond * seconds) }, prepare);
  let refused = 0;
  const all = await ratePerSecond(
    async () => {
      const status = await send(consumer, ready.pop() ?? prepare());
      // A question that takes too long is refused and does not count.
      if (status >= 300) refused += 1;
    },
    { concurrency, seconds },
  );
  return { rate: Math.max(0, all - refused / seconds), refused };
}

async function send(participant, request) {
  const response = await participant.tryPost(request);
  await response.body.arrayBuffer();
  return response.statusCode;
}

/**
 * Marks resources of stored catalogs; the clock runs until discover finds the first of them by the mark. Where few catalogs are pushed repeatedly, a
 * push waits for the previous push of the same resources: otherwise it would replace that mark before it is searched for.
 */
function createPush({ sender, consumer, data, changed }) {
  let next = 0;
  const lastPushes = new Map();
  return async (resources) => {
    const mark = randomUUID();
    const catalogs = [];
    let intent;
    for (let count = 0; count < resources && catalogs.length < changed.length; ) {
      const { catalog, ...marked } = data.changed(changed[next++ % changed.length], mark, resources - count);
      catalogs.push({ ...catalog, bppId: provider });
      intent = marked.intent;
      count += catalog.resources.length;
    }
    const publishDirectives = catalogs.map(({ id }) => ({
      catalogId: id,
      catalogType: 'REGULAR',
      updateMode: 'MERGE',
      visibleTo: [networkId],
    }));
    const pushed = sender.prepare(actions.push, { catalogs, publishDirectives }, 'bpp');
    const question = consumer.prepare(actions.discover, { intent });
    const before = catalogs.map(({ id }) => lastPushes.get(id));
    const push = (async () => {
      await Promise.allSettled(before);
      const begin = performance.now();
      for (const status of [await send(sender, pushed), await send(consumer, question)])
        if (status !== 200) throw new Error(`a push, or the question for it, was answered with ${status}`);
      return performance.now() - begin;
    })();
    for (const { id } of catalogs) lastPushes.set(id, push);
    return push;
  };
}

/** Each push starts on schedule, even if earlier ones have not ended. Stopping resolves to the resources per second that were really pushed. */
function ingest(push, taken) {
  const everyMs = (1000 * resourcesPerPush) / ingestPerSecond;
  const begin = performance.now();
  const pushed = [];
  let isStopped = false;
  const loop = async () => {
    for (let n = 0; !isStopped; n += 1) {
      await sleep(Math.max(0, begin + n * everyMs - performance.now()));
      const one = push(resourcesPerPush).then((ms) => taken.push(ms));
      // Stopping reports the error.
      one.catch(() => {});
      pushed.push(one);
    }
  };
  const running = loop();
  return async () => {
    isStopped = true;
    await running;
    await Promise.all(pushed);
    return (pushed.length * resourcesPerPush * 1000) / (performance.now() - begin);
  };
}
