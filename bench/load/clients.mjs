// Clients of a discovery service, side by side: each sends its next request after the previous one is done and a pause. Some ask and wait for
// on_discover; some push a change and ask until it is found.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { actions } from '../../dist/protocol/actions.js';
import { networkId, provider } from '../search/seed.mjs';

/** A later callback counts as missing. */
const callbackMs = 30_000;
const found = 200;
const nothingFound = 202;

/** Runs all clients for some seconds. `taken` has the milliseconds of each step, `failed` counts the requests that failed. */
export async function runClients({ asking, pushing, seconds, pauseMs }) {
  const result = {
    taken: { push: [], searchable: [], acknowledged: [], answered: [] },
    succeeded: 0,
    failed: new Map(),
  };
  const end = performance.now() + seconds * 1000;
  const loop = async (work) => {
    // Clients start at different moments.
    await sleep(Math.random() * pauseMs);
    while (performance.now() < end) {
      await work(result).then(
        () => {
          result.succeeded += 1;
        },
        ({ message }) => result.failed.set(message, (result.failed.get(message) ?? 0) + 1),
      );
      await sleep(pauseMs);
    }
  };
  await Promise.all([...asking, ...pushing].map(loop));
  return result;
}

/** Asks questions one after another. */
export function createAsker(consumer, nextQuestion) {
  return async ({ taken }) => {
    const request = consumer.prepare(actions.discover, nextQuestion());
    const begin = performance.now();
    const { status } = await send(consumer, request);
    if (status !== found && status !== nothingFound) throw new Error(`discover was answered with ${status}`);
    taken.acknowledged.push(performance.now() - begin);
    if (status === nothingFound) return;
    await inTime(request.callback);
    taken.answered.push(performance.now() - begin);
  };
}

/** Marks catalogs one after another. */
export function createPusher({ sender, consumer, data, nextCatalog }) {
  return async ({ taken }) => {
    const { catalog, intent } = data.changed(nextCatalog(), randomUUID(), 1);
    const directive = { catalogId: catalog.id, catalogType: 'REGULAR', updateMode: 'MERGE' };
    const message = {
      catalogs: [{ ...catalog, bppId: provider }],
      publishDirectives: [{ ...directive, visibleTo: [networkId] }],
    };
    const pushed = sender.prepare(actions.push, message, 'bpp');
    const begin = performance.now();
    const { status } = await send(sender, pushed);
    if (status !== 200) throw new Error(`a push was answered with ${status}`);
    taken.push.push(performance.now() - begin);
    for (;;) {
      const { status } = await send(consumer, consumer.prepare(actions.discover, { intent }));
      if (status === found) break;
      if (status !== nothingFound) throw new Error(`the question for a push was answered with ${status}`);
    }
    taken.searchable.push(performance.now() - begin);
  };
}

export async function send(participant, request) {
  const response = await participant.tryPost(request);
  await response.body.arrayBuffer();
  return { status: response.statusCode, headers: response.headers };
}

async function inTime(callback) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('an on_discover did not come')), callbackMs);
  });
  await Promise.race([callback, late]).finally(() => clearTimeout(timer));
}
