import { LruCache } from '../lru-cache.ts';

export type LookupCache<T> = ReturnType<typeof createLookupCache<T>>;

interface LookupCacheOptions<T> {
  /** Maximum of found and of missing keys, each: made-up keys never displace real ones. */
  maxEntries: number;
  keepMs: (found: T | undefined) => number;
  now: () => Date;
}

/** Caches what was found and what was not, from the moment of asking, and asks once for many waiters. A failure is never kept. */
export function createLookupCache<T>({ maxEntries, keepMs, now }: LookupCacheOptions<T>) {
  const found = new LruCache<string, Entry<T>>(maxEntries);
  const missing = new LruCache<string, Entry<T>>(maxEntries);
  const inFlight = new Map<string, Promise<T | undefined>>();

  function isFresh({ askedAtMs, value }: Entry<T>): boolean {
    const ageMs = now().getTime() - askedAtMs;
    // A clock that was set back must not make an entry live longer.
    return ageMs >= 0 && ageMs < keepMs(value);
  }

  async function askAndKeep(key: string, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    const askedAtMs = now().getTime();
    const value = await ask();
    (value === undefined ? missing : found).keep(key, { askedAtMs, value });
    return value;
  }

  return {
    /** The remembered value, or what `ask` finds. Waiters share a question only within one source, so that a slow source delays no other. */
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
