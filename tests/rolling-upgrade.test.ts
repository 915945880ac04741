import { expect, it } from 'vitest';
import { upgradeUnderLoad } from './support/rolling-upgrade.ts';

// tests/long/rolling-upgrade.test.ts has several processes of each role, and more load.

it('all roles are replaced by those of a version with more tables, one process after the other, and nothing that was acknowledged is lost', async () => {
  const report = await upgradeUnderLoad({ processes: 1, publishers: 2 });
  expect(report.published).toBeGreaterThan(4);
});
