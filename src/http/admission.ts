import { overloaded } from '../protocol/errors.ts';

export type Admission = ReturnType<typeof createAdmission>;

interface Load {
  waitingConnections: number;
  eventLoopDelayMs: number;
}

const tickMs = 20;
const sampleEveryMs = 500;

/** Turns requests away before their bodies are read while there is too much work: waiting costs us nothing at the caller's side. */
export function createAdmission({
  limits,
  waitingConnections = () => 0,
}: {
  limits: Load;
  waitingConnections?: () => number;
}) {
  let eventLoopDelayMs = 0;
  let lastDelayMs = 0;
  let since = performance.now();
  let ticks = 0;
  // The average delay of the ticks of a timer. A single block, as while a process starts, is over when it is noticed: it takes two samples in a row.
  const timer = setInterval(() => {
    ticks += 1;
    const passedMs = performance.now() - since;
    if (passedMs < sampleEveryMs) return;
    const delayMs = Math.max(0, passedMs / ticks - tickMs);
    eventLoopDelayMs = Math.min(delayMs, lastDelayMs);
    lastDelayMs = delayMs;
    since += passedMs;
    ticks = 0;
  }, tickMs).unref();
  return {
    admit(): void {
      const reason = overload({ waitingConnections: waitingConnections(), eventLoopDelayMs }, limits);
      if (reason === undefined) return;
      throw overloaded(`The service is overloaded: ${reason}. Try again later.`);
    },
    close: () => clearInterval(timer),
  };
}

export function overload(load: Load, limits: Load): string | undefined {
  if (load.waitingConnections > limits.waitingConnections) return 'too many requests wait for the database';
  if (load.eventLoopDelayMs > limits.eventLoopDelayMs) return 'it is too busy to answer in time';
  return undefined;
}
