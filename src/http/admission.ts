import { overloaded } from '../protocol/errors.ts';

/** Turns requests away before their bodies are read while there is too much work: waiting costs us nothing at the caller's side. */
export interface Admission {
  /** Throws NET_OVERLOADED. */
  admit(): void;
  close(): void;
}

interface AdmissionOptions {
  limits: Load;
  /** Requests that wait for a database connection. */
  waitingConnections?: () => number;
}

export interface Load {
  waitingConnections: number;
  eventLoopDelayMs: number;
}

const tickMs = 20;
const sampleEveryMs = 500;

export function createAdmission({ limits, waitingConnections }: AdmissionOptions): Admission {
  let eventLoopDelayMs = 0;
  let lastDelayMs = 0;
  let since = performance.now();
  let ticks = 0;
  // By how much the ticks of a timer come late, on average. However long it is held up, one comes. One block alone, as while a process starts,
  // is over when it is noticed: it takes two samples in a row.
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
    admit() {
      const reason = overload({ waitingConnections: waitingConnections?.() ?? 0, eventLoopDelayMs }, limits);
      if (reason === undefined) return;
      throw overloaded(`The service is overloaded: ${reason}. Try again later.`);
    },
    close() {
      clearInterval(timer);
    },
  };
}

/** Which limit is passed, in words; undefined when none is. */
export function overload(load: Load, limits: Load): string | undefined {
  if (load.waitingConnections > limits.waitingConnections) return 'too many requests wait for the database';
  if (load.eventLoopDelayMs > limits.eventLoopDelayMs) return 'it is too busy to answer in time';
  return undefined;
}
