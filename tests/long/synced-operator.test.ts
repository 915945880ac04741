import { it } from 'vitest';
import { expectSyncedOperator } from '../support/hosted/synced-operator.ts';

const secondsPerRound = 15;

it(
  'an operator of 20,000 EVSEs is found as it is after an hour of changes and failures',
  async () => {
    const rounds = 3_600 / secondsPerRound;
    await expectSyncedOperator({ stations: 10_000, rounds, seed: 36, timeoutMs: 100 * 60_000 });
  },
  120 * 60_000,
);
