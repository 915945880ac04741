import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { registerSyncCommand } from '../../src/cli/sync.ts';
import { publisherSettings } from '../support/hosted/publisher.ts';
import { expectSyncedOperator } from '../support/hosted/synced-operator.ts';
import { runCommand } from '../support/processes/command.ts';

// In small; tests/long has an operator of 20,000 EVSEs for an hour.
it('an operator whose statuses, tariffs and stations change is found as it is, without a needless version', async () => {
  await expectSyncedOperator({ stations: 500, rounds: 24, seed: 36, timeoutMs: 180_000 });
}, 300_000);

it('an operator with more than 50,000 stations is refused in a sentence', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'signpost-many-stations-'));
  const file = join(directory, 'stations.csv');
  const rows = Array.from({ length: 50_001 }, (_, index) => `S${index},ABC`);
  writeFileSync(file, ['id,operator', ...rows].join('\n'));
  const settings = await publisherSettings(directory);
  const sync = ['sync', 'csv', 'stations', file, '--yes'];
  const { exitCode, notes } = await runCommand(registerSyncCommand, sync, settings);
  expect(exitCode).toBe(1);
  expect(notes).toContain('Operator abc has 50,001 stations. A sync takes at most 50,000 stations');
  rmSync(directory, { recursive: true, force: true });
}, 120_000);
