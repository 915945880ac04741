import { describe, expect, it, vi } from 'vitest';
import { patienceMs } from '../../tests/support/patience.ts';
import { takeTime } from '../../tests/support/time.ts';
import { createAdmission, overload } from './admission.ts';

const limits = { waitingConnections: 10, eventLoopDelayMs: 400 };

describe('overload', () => {
  it('is none while every measure is within its limit', () => {
    expect(overload({ waitingConnections: 10, eventLoopDelayMs: 400 }, limits)).toBeUndefined();
  });

  it.each([
    [{ waitingConnections: 11, eventLoopDelayMs: 0 }, 'too many requests wait for the database'],
    [{ waitingConnections: 0, eventLoopDelayMs: 401 }, 'it is too busy to answer in time'],
  ])('names the limit that is passed: %o', (load, reason) => {
    expect(overload(load, limits)).toBe(reason);
  });
});

describe('admission', () => {
  it('refuses with NET_OVERLOADED and says when to try again', () => {
    let waiting = 0;
    const admission = createAdmission({ limits, waitingConnections: () => waiting });
    admission.admit();
    waiting = 11;
    expect(() => admission.admit()).toThrow(
      expect.objectContaining({ code: 'NET_OVERLOADED', status: 503, retryAfterSeconds: 2 }),
    );
    admission.close();
  });

  it('does not mind one block', async () => {
    const admission = createAdmission({ limits });
    block();
    await takeTime(50);
    admission.admit();
    admission.close();
  });

  it('notices an event loop that does not come round, and recovers', async () => {
    const admission = createAdmission({ limits });
    for (let round = 0; round < 3; round += 1) {
      block();
      await takeTime(0);
    }
    expect(() => admission.admit()).toThrow('too busy');
    await vi.waitFor(() => admission.admit(), { timeout: patienceMs, interval: 200 });
    admission.close();
  });
});

function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
}
