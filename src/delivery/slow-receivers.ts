// Who keeps us waiting. Known to one process, and only as long as it lives: a receiver that it does not know yet is taken for a quick one.

export interface SlowReceivers {
  /** Who did not answer in good time when it was last sent something, or has not yet. */
  list(): string[];
  /** Sends something to a receiver: says when that has waited for so long that others should go first, and notes whether it was slow. */
  watch<T>(receiver: string, stepAside: () => void, send: () => Promise<T>): Promise<T>;
}

/** The oldest are forgotten: they get their turn as if they were quick. */
const maxKnown = 1_000;

export function createSlowReceivers({ asideMs, slowMs }: { asideMs: number; slowMs: number }): SlowReceivers {
  const known = new Set<string>();

  function note(receiver: string): void {
    known.add(receiver);
    for (const oldest of known) {
      if (known.size <= maxKnown) break;
      known.delete(oldest);
    }
  }

  return {
    list: () => [...known],
    async watch(receiver, stepAside, send) {
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
        if (!isSlow) known.delete(receiver);
      }
    },
  };
}
