// Pushes and discovers side by side: with a second between the requests of a client, as in usual load tests, and without a pause.
import { quantile } from '../measure.mjs';
import { createRotation } from '../search/requests.mjs';
import { pusher } from '../search/seed.mjs';
import { createAsker, createPusher, runClients } from './clients.mjs';
import { atLeast, atMost } from './goals.mjs';

/** Milliseconds at p99, per step. */
const goals = [
  { step: 'push', title: 'push until its ACK', goalMs: 500 },
  { step: 'searchable', title: 'push until discover finds it', goalMs: 2_000 },
  { step: 'acknowledged', title: 'discover until its ACK', goalMs: 300 },
  { step: 'answered', title: 'discover until its on_discover', goalMs: 3_000 },
];
const successGoal = 99.9;

/** `clients` push, and as many others ask, each with a separate identity. */
export async function openClients(service, { data, kept, clients }) {
  const to = service.discoveryUrl;
  const sender = await service.participant(pusher, { to, ignoresCallbacks: true });
  const asked = kept.filter((_, index) => index % 2 === 0);
  const changed = kept.filter((_, index) => index % 2 === 1);
  let next = 0;
  const nextCatalog = () => changed[next++ % changed.length];
  const nextQuestion = createRotation(data, asked);
  const asking = [];
  for (let n = 0; n < clients; n += 1)
    asking.push(createAsker(await service.participant(`consumer-${n}`, { to }), nextQuestion));
  const pushing = [];
  for (let n = 0; n < clients; n += 1) {
    const consumer = await service.participant(`finder-${n}`, { to, ignoresCallbacks: true });
    pushing.push(createPusher({ sender, consumer, data, nextCatalog }));
  }
  return { asking, pushing };
}

export async function* measureParallel(clients, { title, seconds, pauseMs, hasGoals }) {
  const { taken, succeeded, failed } = await runClients({ ...clients, seconds, pauseMs });
  for (const [what, times] of failed) console.error(`bench: ${title}: ${times} times ${what}`);
  const wrong = [...failed.values()].reduce((sum, times) => sum + times, 0);
  for (const { step, title: what, goalMs } of goals) {
    if (taken[step].length === 0) throw new Error(`${title}: nothing was measured of "${what}"`);
    const row = (percentile) => ({
      scenario: `${title}: ${what}, p${percentile}`,
      value: quantile(taken[step], percentile),
      unit: 'ms',
    });
    yield row(50);
    yield hasGoals ? atMost(goalMs, row(99)) : row(99);
  }
  for (const [what, step] of [
    ['pushes', 'searchable'],
    ['discovers', 'acknowledged'],
  ])
    yield { scenario: `${title}: ${what}`, value: taken[step].length / seconds, unit: 'per second' };
  yield atLeast(successGoal, {
    scenario: `${title}: answered as they should be`,
    value: (100 * succeeded) / (succeeded + wrong),
    unit: '%',
  });
}
