import { monitorEventLoopDelay } from 'node:perf_hooks';
import { ProtocolError } from '../protocol/errors.ts';

/**
 * Turns requests away while there is more work than we can do, before their bodies are read: whoever waits anyway had better
 * wait at the caller's side, where waiting costs us nothing.
 */
export interface Admission {
  /** Throws NET_OVERLOADED. */
  admit(): void;
  close(): void;
}

export interface AdmissionOptions {
  limits: AdmissionLimits;
  /** Requests that wait for a database connection. */
  waitingConnections?: () => number;
}

export interface AdmissionLimits {
  waitingConnections: number;
  eventLoopDelayMs: number;
}

export interface Load {
  waitingConnections: number;
  eventLoopDelayMs: number;
}

const retryAfterSeconds = 2;
const resolutionMs = 20;
const sampleEveryMs = 500;

export function createAdmission({ limits, waitingConnections }: AdmissionOptions): Admission {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let eventLoopDelayMs = 0;
  const sampler = setInterval(() => {
    // What is recorded is the time between two ticks of a timer; the delay is what exceeds its interval.
    eventLoopDelayMs = delay.count === 0 ? 0 : Math.max(0, delay.mean / 1e6 - resolutionMs);
    delay.reset();
  }, sampleEveryMs).unref();
  return {
    admit() {
      const reason = overload({ waitingConnections: waitingConnections?.() ?? 0, eventLoopDelayMs }, limits);
      if (reason === undefined) return;
      throw new ProtocolError('NET_OVERLOADED', `The service is overloaded: ${reason}. Try again later.`, {
        retryAfterSeconds,
      });
    },
    close() {
      clearInterval(sampler);
      delay.disable();
    },
  };
}

/** Which limit is passed, in words; undefined when none is. */
export function overload(load: Load, limits: AdmissionLimits): string | undefined {
  if (load.waitingConnections > limits.waitingConnections) return 'too many requests wait for the database';
  if (load.eventLoopDelayMs > limits.eventLoopDelayMs) return 'it is too busy to answer in time';
  return undefined;
}
