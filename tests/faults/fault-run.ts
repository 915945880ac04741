import { performance } from 'node:perf_hooks';
import { expect, type TestContext } from 'vitest';

// One fault of the suite: how often it struck, how many messages were acknowledged, lost or applied twice, and how long a recovery took. The table at
// the end of a run (fault-reporter.ts) is made from these.
//
// The seed (FAULT_SEED) decides every random choice of the suite: which process, which moment of the work, how long. It does not decide how the
// system schedules processes, so the same seed gives the same choices, not the same interleaving.

declare module 'vitest' {
  interface TaskMeta {
    fault?: FaultRow;
  }
}

export interface Outcome {
  /** Acknowledged messages and files. */
  acknowledged: number;
  /** How many of them are missing at the end. */
  lost: number;
  /** How many of them changed something more than once. */
  appliedTwice: number;
}

export interface FaultRow extends Partial<Outcome> {
  fault: string;
  times: number;
  /** Whether the fault ends a process by SIGKILL each time. */
  isKill: boolean;
  recoveryMs: number[];
}

export interface FaultRun {
  /** Name of the fault, valid in ids. */
  name: string;
  /** At least `low`, and less than `high`. */
  between(low: number, high: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** Counts one more strike of the fault. */
  count(): void;
  /** Measures from the end of the fault to the first success. */
  recover(endedAt: number, succeed: () => Promise<unknown>): Promise<void>;
}

/** The long form is `npm run test:faults`; `npm test` runs part of it, with fewer repetitions, in half a minute. */
export const isLong = process.env.FAULTS === 'long';

export function times(short: number, long: number): number {
  return isLong ? long : short;
}

export interface FaultOptions {
  isKill?: boolean;
}

/** The function of a test. A single loss is a fault, even if it does not happen again, so the test is not retried (`faultOptions`). */
export function strikes(
  fault: string,
  scenario: (run: FaultRun) => Promise<Outcome>,
  { isKill = false }: FaultOptions = {},
): (context: TestContext) => Promise<void> {
  return async ({ task }) => {
    const row: FaultRow = { fault, times: 0, isKill, recoveryMs: [] };
    task.meta.fault = row;
    const random = createRandom(`${process.env.FAULT_SEED} ${fault}`);
    const between = (low: number, high: number) => low + random() * (high - low);
    const outcome = await scenario({
      name: fault.replaceAll(/\W+/g, '-'),
      between,
      pick: (items) => items[Math.floor(between(0, items.length))] ?? items[0],
      count: () => void row.times++,
      async recover(endedAt, succeed) {
        await succeed();
        row.recoveryMs.push(performance.now() - endedAt);
      },
    });
    Object.assign(row, outcome);
    expect(row).toMatchObject({ lost: 0, appliedTwice: 0 });
    expect(outcome.acknowledged).toBeGreaterThan(0);
  };
}

/** Options of all tests of the suite. */
export const faultOptions = { retry: 0, timeout: 1_800_000 };

/** mulberry32, from a seed of text. */
function createRandom(seed: string): () => number {
  let state = [...seed].reduce(
    (hash, letter) => Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619),
    2_166_136_261,
  );
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
