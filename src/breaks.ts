import { setImmediate as immediate } from 'node:timers/promises';

/** Maximum time before other work gets a turn. */
const sliceMs = 10;

/** For long work on the main thread. Awaited between its pieces, it lets waiting work run from time to time. */
export function createBreaks(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < sliceMs) return;
    await immediate();
    since = performance.now();
  };
}
