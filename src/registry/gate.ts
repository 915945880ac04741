/** Lets so many in at once; so many others wait, each for so long. */
export interface GateLimits {
  concurrent: number;
  waiting: number;
  waitMs: number;
}

/** Thrown to who would have to wait for too long, or among too many. */
export class GateClosed extends Error {
  override readonly name = 'GateClosed';
}

/** Resolves when there is a place, with how to leave it again. */
export type Enter = () => Promise<() => void>;

export function createGate({ concurrent, waiting: waitingLimit, waitMs }: GateLimits): Enter {
  /** Who came first goes first. */
  const waiting = new Set<() => void>();
  let inside = 0;
  const leave = () => {
    const [next] = waiting;
    if (next) next();
    else inside -= 1;
  };

  function wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(goIn);
        reject(new GateClosed(`no place got free within ${waitMs} ms`));
      }, waitMs);
      const goIn = () => {
        waiting.delete(goIn);
        clearTimeout(timer);
        resolve();
      };
      waiting.add(goIn);
    });
  }

  return async () => {
    if (inside < concurrent) inside += 1;
    else if (waiting.size < waitingLimit) await wait();
    else throw new GateClosed(`${waiting.size} are waiting already`);
    return leave;
  };
}
