import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { createAlarm } from '../storage/work/alarm.ts';
import { type Claim, LeaseLost, settle, startWorkLoop } from '../storage/work/due-work.ts';

// Due work in lanes: a lane is leased as a whole, so one process at a time works on it, on a bounded number of its items at once. One statement finds
// the due items of all held lanes, instead of a claim and a count for every item.
//
//   lane due → leased → its due items taken, up to the number of slots, and again when half of them are done
//            → nothing due or in progress → given back until the next is due

const pollMs = 5_000;
const defaultRestMs = 5_000;

export interface LaneLoopOptions<Item extends { id: number }> {
  database: Database;
  /** A table of due work with a column `name`. Hints on a channel of this name say that lanes or items became due. */
  table: string;
  name: string;
  lanesAtOnce: number;
  itemsPerLane: number;
  /** Takes due items of the lanes: per lane at most the number of its slots, and none that is in progress. */
  take(lanes: readonly LaneWithSlots[]): Promise<Taken<Item>>;
  /** Works on an item until it is no longer due. An error is logged, and the item is tried again after a rest. */
  handle(item: Item, lane: Lane): Promise<void>;
  /** Milliseconds until the next item of a lane becomes due; null when nothing waits. */
  nextDue(tx: Transaction, lane: string): Promise<number | null>;
  logger: Logger;
  longestWaitMs?: number;
  leaseMs?: number;
  /** How long an item rests after an unexpected failure of its handler. */
  restMs?: number;
}

export interface Lane {
  name: string;
  /** Results are written only by the holder of this token. */
  token: string;
  /** Aborted if the results are no longer wanted: the lease was lost, or the process ends. */
  signal: AbortSignal;
}

export interface LaneWithSlots extends Lane {
  slots: number;
  underWay: number[];
}

export interface Taken<Item> {
  items: { lane: string; item: Item }[];
  nextMs?: number | null;
}

export function startLaneLoop<Item extends { id: number }>(options: LaneLoopOptions<Item>) {
  const { database, table, logger, lanesAtOnce, itemsPerLane, restMs = defaultRestMs } = options;
  const open = new Map<string, OpenLane>();
  const alarm = createAlarm();
  let closing = false;

  const listening = database.listen(table, alarm.ring);
  const loop = startWorkLoop<Record<string, string>>({
    database,
    table,
    columns: [options.name],
    concurrency: lanesAtOnce,
    longestWaitMs: options.longestWaitMs,
    leaseMs: options.leaseMs,
    logger,
    handle: serve,
  });
  const running = run();

  async function serve(claim: Claim<Record<string, string>>, signal: AbortSignal): Promise<void> {
    const name = claim.row[options.name] ?? '';
    const { promise: idle, resolve: rest } = withResolvers();
    const lane: OpenLane = { name, token: claim.token, signal, underWay: new Map(), rest };
    open.set(name, lane);
    signal.addEventListener('abort', rest, { once: true });
    if (closing || signal.aborted) rest();
    alarm.ring();
    await idle;
    // If its lease expired, this process may hold the lane again by now, under another lease.
    if (open.get(name) === lane) open.delete(name);
    await Promise.allSettled(lane.underWay.values());
    if (lane.lost) throw lane.lost;
    signal.throwIfAborted();
    await database.transaction(async (tx) => {
      const dueInMs = await options.nextDue(tx, name);
      await settle(tx, table, claim, { dueInMs, set: { attempts: 0 } });
    });
  }

  async function run(): Promise<void> {
    while (!closing) await alarm.sleep(await fillSlots());
  }

  /** Returns how long to sleep without a wake-up. Skips lanes that are more than half full: filling one item by item costs a statement each. */
  async function fillSlots(): Promise<number> {
    const lanes = [...open.values()].filter(({ underWay }) => underWay.size <= itemsPerLane / 2);
    if (lanes.length === 0) return pollMs;
    try {
      const { items, nextMs } = await options.take(lanes.map(withSlots));
      for (const { lane, item } of items) {
        const its = open.get(lane);
        if (its) begin(its, item);
      }
      for (const { underWay, rest } of lanes) if (underWay.size === 0) rest();
      return Math.min(nextMs ?? pollMs, pollMs);
    } catch (error) {
      logger.warn({ err: error }, 'cannot look for work; trying again soon');
      return restMs;
    }
  }

  function withSlots({ name, token, signal, underWay }: OpenLane): LaneWithSlots {
    return { name, token, signal, slots: itemsPerLane - underWay.size, underWay: [...underWay.keys()] };
  }

  function begin(lane: OpenLane, item: Item): void {
    const work = options
      .handle(item, lane)
      .catch((error: unknown) => {
        if (error instanceof LeaseLost) lane.lost = error;
        if (lane.lost || lane.signal.aborted) return lane.rest();
        logger.error({ err: error, lane: lane.name, id: item.id }, 'work failed; it will be tried again');
        return delay(restMs, undefined, { signal: lane.signal }).catch(() => undefined);
      })
      .finally(() => {
        lane.underWay.delete(item.id);
        alarm.ring();
      });
    lane.underWay.set(item.id, work);
  }

  async function close(): Promise<void> {
    closing = true;
    alarm.ring();
    await running;
    // Running work may finish; nothing new is claimed.
    for (const lane of open.values()) lane.rest();
    await loop.close();
    listening.stop();
  }

  let closed: Promise<void> | undefined;
  return {
    close() {
      closed ??= close();
      return closed;
    },
  };
}

interface OpenLane extends Lane {
  underWay: Map<number, Promise<void>>;
  /** Takes no more items: the lane is given back when its running items end. */
  rest(): void;
  lost?: LeaseLost;
}

function withResolvers(): { promise: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
