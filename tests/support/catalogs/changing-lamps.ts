import { actions } from '../../../src/protocol/actions.ts';
import type { Actor, Body, Exchange } from '../network/actor.ts';
import { filter, resourceIds } from '../network/discover.ts';
import { defaultNetwork } from '../network/network.ts';
import type { PlayedService } from '../network/played-service.ts';
import { takeTime, until } from '../time.ts';
import { catalog, plain } from './sample-catalogs.ts';

// Lamps whose colours change all the time by pushes, and concurrent searches by colour; each answer is compared with the pushes at that time.

export interface ChangingLamps {
  /** Wrong or missing results of searches. */
  wrong: string[];
  /** By the address of the service: how many searches were answered, and how many refused with 503 and Retry-After. */
  answered: Map<string, number>;
  refused: Map<string, number>;
  /** The number of acknowledged pushes. */
  pushed: number;
  /** The addresses of the services that get the searches and pushes. */
  urls: string[];
  /** Waits until a service has answered, or refused, `count` more searches. */
  more(counts: 'answered' | 'refused', url: string): Promise<void>;
  stop(): Promise<void>;
}

interface Change {
  colour: string;
  sentAt: number;
  /** Infinity until it is acknowledged. */
  doneAt: number;
}

const colours = ['red', 'green', 'blue'];
const lampCount = 12;
const pushers = 2;
const enough = 25;
const pauseMs = 20;

export function changeLamps(service: PlayedService, consumer: Actor, urls: string[]): ChangingLamps {
  const changes = Array.from({ length: lampCount }, (): Change[] => []);
  let isStopped = false;
  const lamps: ChangingLamps = {
    ...{ wrong: [], answered: new Map(), refused: new Map(), pushed: 0, urls },
    async more(counts, url) {
      const wanted = (lamps[counts].get(url) ?? 0) + enough;
      await until(() => (lamps[counts].get(url) ?? 0) >= wanted, `${enough} more searches to be ${counts}`);
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };

  async function pushOn(first: number): Promise<void> {
    for (let round = 0; !isStopped; round++)
      for (let lamp = first; lamp < lampCount; lamp += pushers) {
        await push(lamp, colours[(round + lamp) % colours.length] as string);
        await takeTime(pauseMs);
      }
  }

  /** A push without an acknowledgement may have been applied: it is repeated until it is acknowledged. */
  async function push(lamp: number, colour: string): Promise<void> {
    const id = idOf(lamp);
    const change: Change = { colour, sentAt: performance.now(), doneAt: Number.POSITIVE_INFINITY };
    changes[lamp]?.push(change);
    const pushed = catalog(`catalog of ${id}`, { resources: [{ ...plain(id), colour } as Body] });
    for (let n = lamp; ; n++) {
      const to = urls[n % urls.length];
      const answer = await service
        .push([pushed], { visibleTo: [defaultNetwork] }, { to })
        .catch(() => undefined);
      if (answer?.status === 200) break;
      if (isStopped) return;
      await takeTime(pauseMs);
    }
    change.doneAt = performance.now();
    lamps.pushed++;
  }

  async function searchOn(): Promise<void> {
    for (let n = 0; !isStopped; n++) {
      const url = urls[n % urls.length] ?? '';
      await search(url, colours[Math.floor(n / urls.length) % colours.length] as string);
      await takeTime(pauseMs);
    }
  }

  async function search(url: string, colour: string): Promise<void> {
    const message = { ...filter(`$.catalogs[*].resources[?@.colour == "${colour}"]`), limit: 100 };
    const begin = performance.now();
    const answer = await consumer.send(actions.discover, message, { to: url }).catch(() => undefined);
    const end = performance.now();
    if (answer === undefined) return; // the service was killed
    if (answer.status === 503) {
      count(lamps.refused, url);
      if (answer.headers.get('retry-after') === null) lamps.wrong.push('503 without Retry-After');
      return;
    }
    const found = await readFound(answer);
    if (found === undefined) return;
    count(lamps.answered, url);
    for (const [lamp, history] of changes.entries()) {
      const possible = coloursBetween(history, begin, end);
      const isFound = found.has(idOf(lamp));
      if (isFound ? !possible.has(colour) : possible.size === 1 && possible.has(colour))
        lamps.wrong.push(
          `${idOf(lamp)} was ${[...possible]}, and ${isFound ? 'found' : 'not found'} as ${colour}`,
        );
    }
  }

  /** Undefined if the service was killed before it could send its result: another one sends it later. */
  async function readFound(answer: Exchange): Promise<Set<string> | undefined> {
    if (answer.status === 202) return new Set();
    if (answer.status !== 200) {
      lamps.wrong.push(`${answer.status}: ${JSON.stringify(answer.body)}`);
      return undefined;
    }
    const callback = await consumer
      .waitFor('on_discover', answer.messageId, callbackWithinMs)
      .catch(() => undefined);
    return callback && new Set(resourceIds(callback.body as Body));
  }

  const running = [...Array.from({ length: pushers }, (_, first) => pushOn(first)), searchOn()];
  return lamps;
}

const callbackWithinMs = 5_000;

function idOf(lamp: number): string {
  return `lamp-${lamp}`;
}

function count(counts: Map<string, number>, url: string): void {
  counts.set(url, (counts.get(url) ?? 0) + 1);
}

/** All colours that a lamp may have had in this time; undefined means that the lamp was absent. */
function coloursBetween(history: readonly Change[], begin: number, end: number): Set<string | undefined> {
  const last = history.findLastIndex(({ doneAt }) => doneAt <= begin);
  const begun = history.slice(last + 1).filter(({ sentAt }) => sentAt <= end);
  return new Set([history[last]?.colour, ...begun.map(({ colour }) => colour)]);
}
