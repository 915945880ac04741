import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFixtures } from './fuzz/fixtures.ts';
import { describeFaults } from './fuzz/report.ts';
import { runTargets } from './fuzz/runner.ts';
import { openScene, type Scene } from './fuzz/scene.ts';
import { targets } from './fuzz/targets.ts';

// The short form of `npm run test:fuzz`: what was found before, and a few cases of each target, always the same.

describe('bad input', () => {
  let scene: Scene;

  beforeAll(async () => {
    scene = await openScene({ together: true });
  });
  afterAll(() => scene?.close());

  it('that broke something once breaks nothing any more', async () => {
    const rows = await runFixtures(scene, targets);
    expect(rows.length).toBeGreaterThan(0);
    expect(describeFaults(rows)).toBe('');
  });

  it('to each interface is refused with a code, crashes nothing, and leaves nothing behind', async () => {
    const rows = await runTargets(scene, targets, { seed: 20_261_117, cases: 200 });
    expect(describeFaults(rows)).toBe('');
    expect(rows.filter(({ cases }) => cases === 0)).toEqual([]);
  });
});
