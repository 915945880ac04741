// A bounded number of slots for expensive work, with a lower bound per party, so that a slow party cannot take all.

export function createSlots({ total, perParty }: { total: number; perParty: number }) {
  const taken = new Map<string, number>();
  const waiting = new Set<{ party: string; admit(): void }>();
  let free = total;

  const hasSlot = (party: string) => free > 0 && (taken.get(party) ?? 0) < perParty;

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
      for (const waiter of waiting) if (hasSlot(waiter.party)) waiter.admit();
    };
  }

  return {
    /** Waits for a slot; returns a function that leaves it. Rejects with the signal's reason if that comes first. */
    enter(party: string, signal: AbortSignal): Promise<() => void> {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (hasSlot(party)) return Promise.resolve(take(party));
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
