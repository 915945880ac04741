import { afterEach, describe, expect, it, vi } from 'vitest';
import { gate } from '../../tests/support/gate.ts';
import { patienceMs } from '../../tests/support/patience.ts';
import { until } from '../../tests/support/time.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { startRenewal } from './role.ts';

let renewal: ReturnType<typeof startRenewal> | undefined;
afterEach(() => renewal?.close());

function start(refresh: () => Promise<Date>): ReturnType<typeof startRenewal> {
  renewal = startRenewal({
    refresh,
    nextUpdateSeconds: 0.08,
    metrics: createMetrics({ process: false }),
    logger: silentLogger(),
    now: () => new Date(),
  });
  return renewal;
}

const inAnHour = () => new Date(Date.now() + 3_600_000);

describe('the renewal', () => {
  it('looks at once, and again and again', async () => {
    let looks = 0;
    const { first } = start(async () => {
      looks += 1;
      return inAnHour();
    });
    await first;
    expect(looks).toBe(1);
    await until(() => looks >= 3, 'the third look');
  });

  it('tells until when everything is good', async () => {
    const nextUpdate = inAnHour();
    const { first, check } = start(async () => nextUpdate);
    await first;
    expect(check()).toEqual({ nextUpdate: nextUpdate.toISOString() });
  });

  it('goes on after a failure, and tells of it once what was announced is overdue', async () => {
    let isBroken = false;
    const { first, check } = start(async () => {
      if (isBroken) throw new Error('the disk is full');
      return new Date(Date.now() + 60);
    });
    await first;
    isBroken = true;
    await vi.waitFor(() => expect(check).toThrow(/overdue: the disk is full$/), patienceMs);
    isBroken = false;
    await vi.waitFor(() => expect(check()).toHaveProperty('nextUpdate'), patienceMs);
  });

  it('tells that it goes on for too long, and not what went wrong earlier', async () => {
    let looks = 0;
    const third = gate();
    const { first, check } = start(async () => {
      looks += 1;
      if (looks === 1) throw new Error('the disk is full');
      if (looks > 2) await third.passed;
      return new Date(Date.now() + 50);
    });
    await first;
    await until(() => looks >= 3, 'the third look');
    await vi.waitFor(() => expect(check).toThrow(/overdue: the renewal has not ended$/), patienceMs);
    third.open();
  });

  it('tells what is wrong when nothing could ever be renewed', async () => {
    const { first, check } = start(() => Promise.reject(new Error('the disk is full')));
    await first;
    expect(check).toThrow('the disk is full');
  });
});
