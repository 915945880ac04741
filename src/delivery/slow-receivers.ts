// Who keeps us waiting. Known to one process, and only as long as it lives: a receiver that it does not know yet is taken for a quick one.

export type SlowReceivers = ReturnType<typeof createSlowReceivers>;

interface SlowReceiversOptions {
  asideMs: number;
  slowMs: number;
  /** Told when somebody turned slow, or quick again. */
  changed?: () => void;
}

/** The oldest are forgotten: they get their turn as if they were quick. */
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
    /** Who did not answer in good time when it was last sent something, or has not yet. */
    list: () => [...known],
    has: (receiver: string) => known.has(receiver),
    /** Sends to a receiver, signals when others should go first because it takes long, and records whether it was slow. */
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
