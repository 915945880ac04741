import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface Watched<T> {
  result: T;
  /** The longest time that one piece of work blocked the event loop. */
  blockedMs: number;
  /** How long the main thread worked: at most the elapsed time. */
  processorMs: number;
  /** The growth of the process. */
  grownBytes: number;
  tookMs: number;
}

/**
 * Runs something and watches the main thread. If the system reports the processor time of a thread (Linux), that is what counts: on a busy machine,
 * the clock also runs while the thread waits for a processor.
 */
export async function watchMainThread<T>(work: () => Promise<T>): Promise<Watched<T>> {
  const before = process.memoryUsage.rss();
  const begin = performance.now();
  const watch = startWatch();
  try {
    const result = await work();
    const grownBytes = process.memoryUsage.rss() - before;
    const tookMs = performance.now() - begin;
    return { result, ...watch.end(), grownBytes, tookMs };
  } finally {
    watch.end();
  }
}

function startWatch(): { end(): Pick<Watched<unknown>, 'blockedMs' | 'processorMs'> } {
  if (findProcessorMs() === undefined) {
    const delays = monitorEventLoopDelay({ resolution: 5 });
    const begin = performance.now();
    delays.enable();
    return {
      end() {
        delays.disable();
        return { blockedMs: delays.max / 1e6, processorMs: performance.now() - begin };
      },
    };
  }
  const first = findProcessorMs() ?? 0;
  let last = first;
  let longest = 0;
  const look = () => {
    const now = findProcessorMs() ?? last;
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  return {
    end() {
      look();
      clearInterval(timer);
      return { blockedMs: longest, processorMs: last - first };
    },
  };
}

/** The processor time of the main thread. */
function findProcessorMs(): number | undefined {
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return undefined;
  }
}
