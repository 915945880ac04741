import { overloaded } from '../protocol/errors.ts';

export type Admission = ReturnType<typeof createAdmission>;

interface Load {
  waitingConnections: number;
  eventLoopDelayMs: number;
}

const tickMs = 20;
const sampleEveryMs = 500;

/** Refuses requests under overload before their bodies are read: callers that wait cost us nothing. */
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
  // The average delay of a timer's ticks. A single block, such as a process start, is over when noticed: the smaller of two samples counts.
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
