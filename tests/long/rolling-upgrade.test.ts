import { expect, it } from 'vitest';
import { upgradeUnderLoad } from '../support/rolling-upgrade.ts';

it('all roles are replaced by those of a version with more tables, one process after the other, and nothing that was acknowledged is lost', async () => {
  const report = await upgradeUnderLoad({ processes: 1, publishers: 2 });
  expect(report.published).toBeGreaterThan(4);
}, 600_000);

it('three processes of each service are replaced one after the other, and nothing that was acknowledged is lost', async () => {
  const report = await upgradeUnderLoad({ processes: 3, publishers: 10 });
  expect(report.published).toBeGreaterThan(20);
}, 1_800_000);
