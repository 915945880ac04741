import type { Action } from '../protocol/actions.ts';

// For how long a request without body is signed. Nothing binds such a signature to a method, an address or a query: the less time somebody has to send
// it again, the better. A receiver takes a DELETE's signature for one address only, and Ed25519 gives the same signature for the same second and
// lifetime: so that two DELETEs never share one, each gets a lifetime of its own.

const usualSeconds = 60;
const shortestSeconds = 30;
/** As many DELETEs as may be signed again before their signatures have expired. */
const maxRecent = 10_000;

/** Undefined for a request with a body: then the usual lifetime counts. */
export type BodilessLifetime = (method: Action['method'], now: Date) => number | undefined;

export function createBodilessLifetime(random: () => number = Math.random): BodilessLifetime {
  const recent = new Set<string>();

  /** At random at first, because other processes may sign with the same key. Never the lifetime of a GET. */
  function findUnused(second: number): number {
    let seconds = shortestSeconds + Math.floor(random() * (usualSeconds - shortestSeconds));
    while (seconds === usualSeconds || recent.has(`${second} ${seconds}`)) seconds += 1;
    return seconds;
  }

  return (method, now) => {
    if (method === 'POST') return undefined;
    if (method === 'GET') return usualSeconds;
    const second = Math.floor(now.getTime() / 1000);
    const seconds = findUnused(second);
    recent.add(`${second} ${seconds}`);
    const [oldest] = recent;
    if (recent.size > maxRecent && oldest !== undefined) recent.delete(oldest);
    return seconds;
  };
}

/** Of this process. */
export const bodilessLifetime = createBodilessLifetime();
