import type { Action } from '../protocol/actions.ts';
import type { SignOptions } from '../protocol/request-signature.ts';

// Signs our requests without a body (protocol decision: request signature). Nothing binds such a signature to a method, an address or a query: anyone
// who receives it may send it elsewhere until it expires, so it lives for seconds. A receiver accepts the signature of a DELETE for one address, and
// Ed25519 gives the same signature for the same second and lifetime: so each DELETE gets a different lifetime, and none gets that of a GET.

const getSeconds = 10;
const shortestDeleteSeconds = getSeconds + 1;
const longestDeleteSeconds = 60;
/** Fewer than the pairs of second and lifetime with at least 11 seconds to live, so that one is always unused. */
const maxRecent = 1_000;

/** When a request is signed, and for how long; a POST now, with the usual lifetime. */
type SignTimes = (method: Action['method'], now: Date) => Pick<SignOptions, 'now' | 'lifetimeSeconds'>;

export function createSignTimes(random: () => number = Math.random): SignTimes {
  const recent = new Set<string>();

  /** Random first, because other processes may sign with the same key. If all lifetimes of this second are in use, the second before is used. */
  function findUnused(now: number): { second: number; seconds: number } {
    const count = longestDeleteSeconds - shortestDeleteSeconds + 1;
    for (let second = now; ; second -= 1) {
      const first = Math.floor(random() * count);
      for (let step = 0; step < count; step += 1) {
        const seconds = shortestDeleteSeconds + ((first + step) % count);
        const livesLong = second + seconds >= now + shortestDeleteSeconds;
        if (livesLong && !recent.has(`${second} ${seconds}`)) return { second, seconds };
      }
    }
  }

  return (method, now) => {
    if (method === 'POST') return { now };
    if (method === 'GET') return { now, lifetimeSeconds: getSeconds };
    const { second, seconds } = findUnused(Math.floor(now.getTime() / 1000));
    recent.add(`${second} ${seconds}`);
    const [oldest] = recent;
    if (recent.size > maxRecent && oldest !== undefined) recent.delete(oldest);
    return { now: new Date(second * 1000), lifetimeSeconds: seconds };
  };
}

/** One for the whole process. */
export const signTimes = createSignTimes();

/** A smaller clock difference does not cause a 401. */
const toleratedClockMs = 5_000;

/** The clock of a server that refused a request without a body, if the difference to ours may be the reason: such a signature lives for seconds. */
export function findServerClock(
  method: Action['method'],
  { status, date }: { status: number; date?: string },
  now: Date,
): Date | undefined {
  if (method === 'POST' || status !== 401 || date === undefined) return undefined;
  const clock = new Date(date);
  return Math.abs(clock.getTime() - now.getTime()) > toleratedClockMs ? clock : undefined;
}

export function describeClockDifference(clock: Date, now: Date): string {
  const seconds = Math.round((clock.getTime() - now.getTime()) / 1000);
  return `its clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} ours`;
}
