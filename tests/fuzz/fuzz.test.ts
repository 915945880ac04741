import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeFaults, describeRow, findGrowth, type MemoryBounds, summarize } from './report.ts';
import { type Row, runTargets } from './runner.ts';
import { openScene, type Scene } from './scene.ts';
import { targets } from './targets.ts';

// The bad input suite. FUZZ_SEED repeats the cases of a seed, FUZZ_CASES is their number, FUZZ_TARGET is a part of a target's name.

const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const cases = Number(process.env.FUZZ_CASES ?? 50_000);
const chosen = targets.filter(({ name }) => name.includes(process.env.FUZZ_TARGET ?? ''));

/** In MB. 50,000 cases take at most 421, in the discovery service that crawls. */
const bounds: MemoryBounds = { peak: 800, growth: 60 };

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene?.close());

it(`bad input breaks nothing (FUZZ_SEED=${seed})`, { timeout: 3_600_000, retry: 0 }, async () => {
  const rows: Row[] = await runTargets(scene, chosen, {
    ...{ seed, cases },
    tell: (row) => console.log(`${describeRow(row)}\n${describeFaults([row])}`),
  });
  console.table(rows.map(summarize));
  console.log(`FUZZ_SEED=${seed}, ${rows.reduce((sum, row) => sum + row.cases, 0)} cases`);
  expect(describeFaults([...rows, { target: 'memory', faults: findGrowth(rows, bounds) }])).toBe('');
});
