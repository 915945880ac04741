/**
 * A semaphore with two lanes, each with slots that the other never takes: questions about known keys go first. In a lane the sources take turns, and each
 * has a share of the slots and of the queue, so that a flood from one source delays nobody else.
 */
export interface GateLimits {
  concurrent: number;
  /** Slots that one lane may take. */
  perLane: number;
  /** Maximum in one lane. */
  waiting: number;
  /** Maximum of one source in one lane. */
  perSource: { concurrent: number; waiting: number };
  waitMs: number;
}

export interface Asker {
  /** Undefined for this process itself, which has no share of its own to keep to. */
  source?: string;
  isKnown?: boolean;
}

/** Thrown to who would have to wait for too long, or among too many. */
export class GateClosed extends Error {
  override readonly name = 'GateClosed';
}

/** Resolves when there is a slot, with how to leave it again. */
export type Enter = (asker?: Asker) => Promise<() => void>;

export function createGate(limits: GateLimits): Enter {
  const known = createLane(limits);
  const strangers = createLane(limits);
  let inside = 0;

  function letIn(): void {
    for (const lane of [known, strangers]) {
      while (inside < limits.concurrent) {
        const next = lane.takeNext();
        if (next === undefined) break;
        inside += 1;
        next();
      }
    }
  }

  return async ({ source, isKnown = false } = {}) => {
    const lane = source === undefined || isKnown ? known : strangers;
    const entered = lane.wait(source);
    letIn();
    await entered;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      inside -= 1;
      lane.leave(source);
      letIn();
    };
  };
}

function createLane({ perLane, waiting: waitingLimit, perSource, waitMs }: GateLimits) {
  /** The first one is next. A source that had its turn goes to the end. */
  const queues = new Map<string | undefined, Set<() => void>>();
  const insideOf = new Map<string | undefined, number>();
  let inside = 0;
  let waiting = 0;

  const hasRoom = (source: string | undefined) =>
    source === undefined || (insideOf.get(source) ?? 0) < perSource.concurrent;

  function remove(source: string | undefined, goIn: () => void): void {
    const queue = queues.get(source);
    if (!queue?.delete(goIn)) return;
    waiting -= 1;
    if (queue.size === 0) queues.delete(source);
  }

  return {
    /** Resolves when `takeNext` has given this asker a slot. */
    wait(source: string | undefined) {
      const queue = queues.get(source) ?? new Set();
      const limit = source === undefined ? waitingLimit : perSource.waiting;
      if (queue.size >= limit || waiting >= waitingLimit)
        return Promise.reject(new GateClosed(`${queue.size} are waiting already`));
      return new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => {
          remove(source, goIn);
          reject(new GateClosed(`no slot got free within ${waitMs} ms`));
        }, waitMs);
        const goIn = () => {
          clearTimeout(timer);
          resolve();
        };
        queue.add(goIn);
        queues.set(source, queue);
        waiting += 1;
      });
    },
    /** Takes the slot of whose turn it is, and returns how to tell them. */
    takeNext() {
      if (inside >= perLane) return undefined;
      for (const [source, queue] of queues) {
        if (!hasRoom(source)) continue;
        const [next] = queue;
        if (next === undefined) continue;
        queues.delete(source);
        queues.set(source, queue);
        remove(source, next);
        inside += 1;
        insideOf.set(source, (insideOf.get(source) ?? 0) + 1);
        return next;
      }
      return undefined;
    },
    leave(source: string | undefined) {
      inside -= 1;
      const left = (insideOf.get(source) ?? 1) - 1;
      if (left > 0) insideOf.set(source, left);
      else insideOf.delete(source);
    },
  };
}
