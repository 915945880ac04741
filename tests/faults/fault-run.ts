import { performance } from 'node:perf_hooks';
import { expect, type TestContext } from 'vitest';

// One fault of the suite: how often it struck, what was acknowledged, what became of that, and how long a recovery took. The table at the end of a run is made
// of these (fault-reporter.ts).
//
// The seed (FAULT_SEED) decides every random choice of the suite: which process, which moment of the work, how long. It does not decide how the system schedules
// processes, so the same seed gives the same choices, not the same interleaving.

declare module 'vitest' {
  interface TaskMeta {
    fault?: FaultRow;
  }
}

export interface Outcome {
  /** Messages and files that were acknowledged to whoever sent them. */
  acknowledged: number;
  /** Number of them missing at the end. */
  lost: number;
  /** Number of them that have changed something more than once. */
  appliedTwice: number;
}

export interface FaultRow extends Partial<Outcome> {
  fault: string;
  times: number;
  /** Whether each time ended a process by SIGKILL. */
  isKill: boolean;
  recoveryMs: number[];
}

export interface FaultRun {
  /** Name of the fault, fit for ids. */
  name: string;
  /** At least `low`, and less than `high`. */
  between(low: number, high: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** Counts the fault once more. */
  count(): void;
  /** Measures from the end of the fault to the first success. */
  recover(endedAt: number, succeed: () => Promise<unknown>): Promise<void>;
}

/** The long form is `npm run test:faults`; `npm test` runs a part of it, with fewer repetitions, in half a minute. */
export const isLong = process.env.FAULTS === 'long';

export function times(short: number, long: number): number {
  return isLong ? long : short;
}

export interface FaultOptions {
  isKill?: boolean;
}

/** The function of a test. What was lost once is a fault, whether or not it happens again: the test is not retried (`faultOptions`). */
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
