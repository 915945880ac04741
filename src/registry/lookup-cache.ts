import { LruCache } from '../lru-cache.ts';

export type LookupCache<T> = ReturnType<typeof createLookupCache<T>>;

interface LookupCacheOptions<T> {
  /** Of those found and of those not found, each: keys that somebody makes up never displace real ones. */
  maxEntries: number;
  keepMs: (found: T | undefined) => number;
  now: () => Date;
}

/**
 * Remembers what was found and what was not, and asks once for many waiters.
 *
 * What is kept counts from the moment of asking, so that a change at the source takes effect within the time given,
 * however slow the answer was. A failure is never kept.
 */
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
    /**
     * The remembered value, or what `ask` finds; undefined means that there is none. Only those wait for one question who ask for the same
     * source: a question that has to wait, for all that its source asks, must not hold up another source.
     */
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
