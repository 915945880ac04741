import { expect, it } from 'vitest';
import { takeTime, until, watchFor } from '../../tests/support/time.ts';
import { silentLogger } from '../logger.ts';
import { repeat } from './repeat.ts';

const options = { what: 'counting', everyMs: 10, logger: silentLogger() };

it('does its work at once and at intervals, also after it failed, never twice at a time, and not after it was closed', async () => {
  let [begun, atOnce, most] = [0, 0, 0];
  const repeating = repeat(options, async () => {
    begun += 1;
    atOnce += 1;
    most = Math.max(most, atOnce);
    await takeTime(15);
    atOnce -= 1;
    if (begun === 2) throw new Error('this once');
  });
  expect(begun).toBe(1);
  await until(() => begun >= 4, 'four rounds');
  await repeating.close();
  expect([atOnce, most]).toEqual([0, 1]);
  const done = begun;
  await watchFor(50);
  expect(begun).toBe(done);
});
