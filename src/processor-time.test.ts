import { expect, it } from 'vitest';
import { takeTime } from '../tests/support/time.ts';
import { findThreadName, meterThread } from './processor-time.ts';

it.runIf(process.platform === 'linux')(
  'the meter of a thread counts its processor time, and not the time that passes',
  async () => {
    const [read, begin] = [meterThread(findThreadName()), performance.now()];
    await takeTime(200);
    const idle = read();
    expect(idle).toBeLessThan(performance.now() - begin);
    for (let spins = 0; spins < 1e8; ) spins += 1;
    expect(read()).toBeGreaterThan(idle);
  },
);

it.each([undefined, 'nobody'])(
  'the meter of a thread whose processor time is not known (%s) counts the time that passes',
  async (name) => {
    const read = meterThread(name);
    await takeTime(20);
    expect(read()).toBeGreaterThan(10);
  },
);
