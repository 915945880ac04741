// A bounded number of places for work that is dear, and of these only a few for one party, so that a slow one cannot take all.

export interface Places {
  /** Waits for a place; returns how to leave it. Rejects with the signal's reason when that comes first. */
  enter(party: string, signal: AbortSignal): Promise<() => void>;
}

export function createPlaces({ total, perParty }: { total: number; perParty: number }): Places {
  const taken = new Map<string, number>();
  const waiting = new Set<{ party: string; admit(): void }>();
  let free = total;

  const hasPlace = (party: string) => free > 0 && (taken.get(party) ?? 0) < perParty;

  function take(party: string): () => void {
    free -= 1;
    taken.set(party, (taken.get(party) ?? 0) + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      free += 1;
      const rest = (taken.get(party) ?? 0) - 1;
      if (rest > 0) taken.set(party, rest);
      else taken.delete(party);
      for (const waiter of waiting) {
        if (hasPlace(waiter.party)) waiter.admit();
      }
    };
  }

  return {
    enter(party, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (hasPlace(party)) return Promise.resolve(take(party));
      return new Promise((resolve, reject) => {
        const waiter = {
          party,
          admit() {
            waiting.delete(waiter);
            signal.removeEventListener('abort', giveUp);
            resolve(take(party));
          },
        };
        const giveUp = () => {
          waiting.delete(waiter);
          reject(signal.reason);
        };
        waiting.add(waiter);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}
