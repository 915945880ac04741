import { type RateLimit, type ShareLimit, unlimited } from './rate-limit.ts';

// Rate limits of several workers behind one port. Each worker has buckets of its own and tells the others, every 20 ms while there is something to tell, how many tokens
// it has taken; they take as many from theirs (gossip). Between two messages a burst may be exceeded by what the others take meanwhile. That is paid back:
// over time, all workers together grant what one would.

/** Tokens that were taken from the bucket of a key; negative where they were given back. */
export type Spent = readonly [limit: string, key: string, tokens: number];

export interface SpendingPeers {
  tell(spent: readonly Spent[]): void;
  onTold(listener: (spent: readonly Spent[]) => void): void;
}

const tellEveryMs = 20;

export function createSharedLimits({ tell, onTold }: SpendingPeers): ShareLimit {
  const limits = new Map<string, RateLimit>();
  const untold = new Map<string, Map<string, number>>();
  let isToTell = false;

  function note(name: string, key: string, tokens: number): void {
    const keys = untold.get(name) ?? new Map<string, number>();
    untold.set(name, keys);
    keys.set(key, (keys.get(key) ?? 0) + tokens);
    if (!isToTell) setTimeout(tellAll, tellEveryMs).unref();
    isToTell = true;
  }

  function tellAll(): void {
    isToTell = false;
    const spent = [...untold].flatMap(([name, keys]) =>
      [...keys].flatMap(([key, tokens]): Spent[] => (tokens === 0 ? [] : [[name, key, tokens]])),
    );
    untold.clear();
    if (spent.length > 0) tell(spent);
  }

  onTold((spent) => {
    const nowMs = performance.now();
    for (const [name, key, tokens] of spent) limits.get(name)?.spend(key, tokens, nowMs);
  });

  return (name, limit) => {
    if (limit === unlimited) return limit;
    limits.set(name, limit);
    return {
      take(key, nowMs) {
        const waitSeconds = limit.take(key, nowMs);
        if (waitSeconds === 0) note(name, key, 1);
        return waitSeconds;
      },
      allows: limit.allows,
      spend(key, tokens, nowMs) {
        limit.spend(key, tokens, nowMs);
        note(name, key, tokens);
      },
      giveBack(key) {
        limit.giveBack(key);
        note(name, key, -1);
      },
    };
  };
}
