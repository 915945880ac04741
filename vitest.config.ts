import { randomInt } from 'node:crypto';
import { defineConfig } from 'vitest/config';
import LongestFirst from './tests/support/longest-first.ts';

// Random choices of the fault suite: the same every time in `npm test`, others in each run of `npm run test:faults`. The processes of the tests inherit it.
process.env.FAULT_SEED ??= process.env.FAULTS === 'long' ? `${randomInt(1_000_000)}` : '20261117';

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'packages/*/src/**/*.test.ts',
      'tests/**/*.test.ts',
      'web/src/**/*.test.ts',
    ],
    globalSetup: ['tests/support/fresh-build.ts', 'tests/support/database/database-server.ts'],
    reporters: ['default', './tests/support/summary-reporter.ts', './tests/faults/fault-reporter.ts'],
    setupFiles: ['tests/support/reproducible.ts'],
    // A machine that is taken away for minutes must fail nothing: what will not happen is waited for no longer than `patienceMs`.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Some tests cannot do without a clock (a deadline, a rate, a lease). The summary names those that needed a second run.
    retry: 1,
    // Three workers keep two processors busy: tests wait, for disks, leases and time-outs, a fifth of their time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // A worker loads the code once and not for each of its files, which would cost more than most of them take.
    isolate: false,
  },
});
