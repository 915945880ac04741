/**
 * Remembers what was found and what was not, and asks once for many waiters.
 *
 * What is kept counts from the moment of asking, so that a change at the source takes effect within the time given,
 * however slow the answer was. A failure is never kept.
 */
export interface LookupCache<T> {
  /**
   * The remembered value, or what `ask` finds; undefined means that there is none. Only those wait for one question who ask for the same
   * source: a question that has to wait, for all that its source asks, must not hold up another source.
   */
  find(key: string, ask: () => Promise<T | undefined>, source?: string): Promise<T | undefined>;
}

export interface LookupCacheOptions<T> {
  /** Of those found and of those not found, each: keys that somebody makes up never displace real ones. */
  maxEntries: number;
  keepMs: (found: T | undefined) => number;
  now: () => Date;
}

export function createLookupCache<T>({ maxEntries, keepMs, now }: LookupCacheOptions<T>): LookupCache<T> {
  const found = createExpiringMap<T>(maxEntries);
  const missing = createExpiringMap<undefined>(maxEntries);
  const inFlight = new Map<string, Promise<T | undefined>>();

  async function askAndKeep(key: string, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    const askedAtMs = now().getTime();
    const value = await ask();
    const entry = { askedAtMs, keepMs: keepMs(value) };
    if (value === undefined) missing.set(key, { ...entry, value: undefined });
    else found.set(key, { ...entry, value });
    return value;
  }

  return {
    async find(key, ask, source = '') {
      const nowMs = now().getTime();
      const kept = found.get(key, nowMs) ?? missing.get(key, nowMs);
      if (kept) return kept.value;
      const question = `${source} ${key}`;
      const pending = inFlight.get(question);
      if (pending) return pending;
      const asking = askAndKeep(key, ask).finally(() => inFlight.delete(question));
      inFlight.set(question, asking);
      return asking;
    },
  };
}

interface Entry<T> {
  value: T;
  askedAtMs: number;
  keepMs: number;
}

/** When full, the entry that was used longest ago goes. */
function createExpiringMap<T>(maxEntries: number) {
  const entries = new Map<string, Entry<T>>();
  return {
    get(key: string, nowMs: number): Entry<T> | undefined {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      const ageMs = nowMs - entry.askedAtMs;
      // A clock that was set back must not make an entry live longer.
      if (ageMs < 0 || ageMs >= entry.keepMs) return undefined;
      entries.set(key, entry);
      return entry;
    },
    set(key: string, entry: Entry<T>): void {
      entries.delete(key);
      if (entry.keepMs <= 0) return;
      entries.set(key, entry);
      if (entries.size > maxEntries) for (const oldest of entries.keys()) return void entries.delete(oldest);
    },
  };
}
