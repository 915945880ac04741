// Receivers that answer slowly. Kept in the memory of one process: a new receiver counts as quick.

export type SlowReceivers = ReturnType<typeof createSlowReceivers>;

interface SlowReceiversOptions {
  asideMs: number;
  slowMs: number;
  /** Called when a receiver turned slow, or quick again. */
  changed?: () => void;
}

/** The oldest are forgotten and count as quick again. */
const maxKnown = 1_000;

export function createSlowReceivers({ asideMs, slowMs, changed }: SlowReceiversOptions) {
  const known = new Set<string>();

  function note(receiver: string): void {
    if (known.has(receiver)) return;
    known.add(receiver);
    for (const oldest of known) {
      if (known.size <= maxKnown) break;
      known.delete(oldest);
    }
    changed?.();
  }

  return {
    /** Receivers whose last answer was slow, or has not come yet. */
    list: () => [...known],
    has: (receiver: string) => known.has(receiver),
    /** Sends to a receiver, signals when others should go first because it is slow, and records whether it was slow. */
    async watch<T>(receiver: string, stepAside: () => void, send: () => Promise<T>): Promise<T> {
      let isSlow = false;
      const aside = setTimeout(stepAside, asideMs);
      const slow = setTimeout(() => {
        isSlow = true;
        note(receiver);
      }, slowMs);
      try {
        return await send();
      } finally {
        clearTimeout(aside);
        clearTimeout(slow);
        if (!isSlow && known.delete(receiver)) changed?.();
      }
    },
  };
}
