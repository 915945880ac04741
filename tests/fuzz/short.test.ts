import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runFixtures } from './fixtures.ts';
import { describeFaults, findGrowth } from './report.ts';
import { type AnyTarget, runTarget, runTargets } from './runner.ts';
import { openScene, type Scene } from './scene.ts';
import { accepted } from './target.ts';
import { targets } from './targets.ts';
import { type Host, startHost } from './watched-process.ts';

// The short form of `npm run test:fuzz`: earlier finds, and a few cases of each target, always the same.

describe('bad input', () => {
  let scene: Scene;

  beforeAll(async () => {
    scene = await openScene({ together: true });
  });
  afterAll(() => scene?.close());

  it('that broke something once breaks nothing any more', { retry: 0 }, async () => {
    const rows = await runFixtures(scene, targets);
    expect(rows.length).toBeGreaterThan(0);
    expect(describeFaults(rows)).toBe('');
  });

  it('to each interface is refused with a code, crashes nothing, and leaves nothing behind', {
    retry: 0,
  }, async () => {
    const rows = await runTargets(scene, targets, { seed: 20_261_117, cases: 200 });
    expect(describeFaults(rows)).toBe('');
    expect(rows.filter(({ cases }) => cases === 0)).toEqual([]);
  });
});

describe('the bad input suite', () => {
  let host: Host;

  const run = (...ways: string[]) => {
    const scene = { processes: [host], findUnready: async () => undefined } as unknown as Scene;
    const target: AnyTarget = {
      ...{ name: 'a program that breaks', weight: 1, cases: undefined as never },
      run: async (_scene, way) => {
        await host.ask({ way });
        return accepted;
      },
    };
    return runTarget(scene, target, ways);
  };

  beforeEach(async () => {
    host = await startHost('program', './hosts/break-down.mjs', {});
  });
  afterEach(() => host.stop().catch(() => undefined));

  it('finds nothing where nothing breaks', async () => {
    const row = await run('hold', 'hold');
    expect(row).toMatchObject({ cases: 2, accepted: 2, faults: [] });
    expect(findGrowth([row, row], { peak: 300, growth: 20 })).toEqual([]);
  });

  it('takes a process that ends for a crash, and names the case', async () => {
    const { faults, cases } = await run('hold', 'exit', 'hold');
    expect(cases).toBe(2);
    expect(faults).toContainEqual({
      ...{ kind: 'crash', what: 'the process of program has ended with 3', case: ['exit'] },
    });
  });

  it('takes an error that nobody catches for a crash, and shows its stack', async () => {
    const { faults } = await run('throw');
    expect(faults).toContainEqual({
      ...{ kind: 'crash', what: expect.stringContaining('TypeError: not caught'), case: ['throw'] },
    });
  });

  it('finds memory that is never given back, and a peak above the bound', async () => {
    const rows = [await run('hold'), await run('grow')];
    expect(findGrowth(rows, { peak: 4_000, growth: 20 })).toMatchObject([
      { kind: 'memory', what: expect.stringContaining('the heap of program grew from') },
    ]);
    expect(findGrowth(rows, { peak: 60, growth: 4_000 })).toContainEqual({
      ...{ kind: 'memory', what: expect.stringContaining('during: a program that breaks') },
    });
  });
});
