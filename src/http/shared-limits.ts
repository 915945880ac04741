import { type RateLimit, type ShareLimit, unlimited } from './rate-limit.ts';

// Rate limits of several workers behind one port. Every 20 ms each worker sends the others the number of tokens it has taken, and they take as many
// from theirs (gossip). A burst may be exceeded meanwhile; that is paid back.

/** Tokens taken from the bucket of a key; negative if they were returned. */
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
