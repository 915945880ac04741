import { setImmediate as immediate } from 'node:timers/promises';

/** How long work goes on before others have their turn. */
const sliceMs = 10;

/** For long work on the main thread: to be awaited between its pieces, it lets others have their turn when they have waited long enough. */
export function createBreaks(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < sliceMs) return;
    await immediate();
    since = performance.now();
  };
}
