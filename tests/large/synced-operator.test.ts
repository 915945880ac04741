import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { register as registerSyncCommand } from '../../src/cli/sync.ts';
import { publisherSettings } from '../support/hosted/publisher.ts';
import { expectSyncedOperator } from '../support/hosted/synced-operator.ts';
import { runCommand } from '../support/processes/command.ts';

// The small form; tests/long has an operator of 20,000 EVSEs for an hour.
it('an operator whose statuses, tariffs and stations change is found as it is, without a needless version', async () => {
  await expectSyncedOperator({ stations: 500, rounds: 24, seed: 36, timeoutMs: 180_000 });
}, 300_000);

describe('an operator', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'signpost-many-stations-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  async function syncStations(count: number) {
    const file = join(directory, 'stations.csv');
    const rows = Array.from({ length: count }, (_, index) => `S${index},ABC,${index % 2}0001,DE`);
    writeFileSync(file, ['id,operator,postalCode,country', ...rows].join('\n'));
    const sync = ['sync', 'csv', 'stations', file, '--yes'];
    return runCommand(registerSyncCommand, sync, await publisherSettings(directory));
  }

  it('with more than 2,000 stations has a catalog for each region, and keeps these when it has fewer', async () => {
    expect((await syncStations(2_001)).out).toContain(
      'added: DE:abc:de-00\nadded: DE:abc:de-10\n2 catalogs: 2 added',
    );
    expect((await syncStations(1_999)).out).toContain('2 catalogs: 0 added, 2 changed');
  });

  it('with 2,000 stations has a catalog for each of them, and keeps these when it has more', async () => {
    expect((await syncStations(2_000)).out).toContain('2,000 catalogs: 2000 added');
    expect((await syncStations(2_001)).out).toContain('1 added, 0 changed, 0 retired, 2000 unchanged');
  });

  it('with more than 50,000 stations is refused in a sentence', async () => {
    const { exitCode, notes } = await syncStations(50_001);
    expect(exitCode).toBe(1);
    expect(notes).toContain('Operator DE:abc has 50,001 stations. A sync takes at most 50,000 stations');
  }, 120_000);
});
