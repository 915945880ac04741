import { LruCache } from '../lru-cache.ts';

export type LookupCache<T> = ReturnType<typeof createLookupCache<T>>;

interface LookupCacheOptions<T> {
  /** Maximum of found keys and of missing keys: made-up keys never displace real ones. */
  maxEntries: number;
  keepMs: (found: T | undefined) => number;
  now: () => Date;
}

/** Caches found and missing values from the moment of asking; concurrent callers share one lookup. A failure is never cached. */
export function createLookupCache<T>({ maxEntries, keepMs, now }: LookupCacheOptions<T>) {
  const found = new LruCache<string, Entry<T>>(maxEntries);
  const missing = new LruCache<string, Entry<T>>(maxEntries);
  const inFlight = new Map<string, Promise<T | undefined>>();

  function isFresh({ askedAtMs, value }: Entry<T>): boolean {
    const ageMs = now().getTime() - askedAtMs;
    // If the clock is set back, an entry must not live longer.
    return ageMs >= 0 && ageMs < keepMs(value);
  }

  async function askAndKeep(key: string, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    const askedAtMs = now().getTime();
    const value = await ask();
    (value === undefined ? missing : found).keep(key, { askedAtMs, value });
    return value;
  }

  return {
    /** The cached value, or the result of `ask`. Callers share a lookup only within one source, so a slow source delays no other. */
    async find(key: string, ask: () => Promise<T | undefined>, source = ''): Promise<T | undefined> {
      const kept = [found.find(key), missing.find(key)].find((entry) => entry && isFresh(entry));
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
  value: T | undefined;
  askedAtMs: number;
}
