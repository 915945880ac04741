import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../tests/support/processes/command.ts';
import { register as registerBackupCommands } from '../backup.ts';
import { writeChecksums } from './checksums.ts';

describe('signpost restore --no-database', () => {
  let directory: string;
  let backup: string;
  let dataDir: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signpost-restore-'));
    [backup, dataDir] = [join(directory, 'backup'), join(directory, 'data')];
    await mkdir(join(backup, 'data', 'keys'), { recursive: true });
    await mkdir(dataDir);
    await writeFile(join(backup, 'data', 'keys', 'key'), 'of the backup');
    await writeFile(join(backup, 'data', 'operator-token'), 'of the backup');
    const bytes = await writeChecksums(backup);
    const facts = { madeAt: '2026-01-31T12:00:00Z', hasDatabase: true, hasPublisher: false, bytes };
    await writeFile(join(backup, 'backup.json'), JSON.stringify(facts));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const restore = (from?: string, settings: Record<string, string> = {}) =>
    runCommand(registerBackupCommands, ['restore', ...(from ? [from] : []), '--no-database'], {
      DATA_DIR: dataDir,
      ...settings,
    });
  const readToken = () => readFile(join(dataDir, 'operator-token'), 'utf8');

  it('copies the files into a directory that has none of them', async () => {
    await mkdir(join(dataDir, 'keys'));
    await writeFile(join(dataDir, 'notes.txt'), 'of the operator');
    expect(await restore(backup)).toMatchObject({ exitCode: 0 });
    expect(await readToken()).toBe('of the backup');
  });

  it('copies the files into a directory with nothing but locks, which is that of the publisher too', async () => {
    await mkdir(join(dataDir, 'up', 'lock'), { recursive: true });
    await writeFile(join(dataDir, 'up', 'lock', '1'), '');
    expect(await restore(backup, { PUBLISHER_DIR: dataDir })).toMatchObject({ exitCode: 0 });
    expect(await readToken()).toBe('of the backup');
  });

  it('refuses a directory that has a file of the backup, and names it', async () => {
    await writeFile(join(dataDir, 'operator-token'), 'another one');
    const run = await restore(backup);
    expect(run).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('operator-token already exists'),
    });
    expect(await readToken()).toBe('another one');
  });

  it.each([
    ['is empty', 0, ': data/keys/key, data/operator-token. Nothing'],
    ['was cut off within a line', 100, ': SHA256SUMS, data/operator-token. Nothing'],
    ['has lost a line', 80, ': data/operator-token. Nothing'],
  ])(
    'refuses a backup whose SHA256SUMS %s, and names the files that it does not list',
    async (_what, bytes, named) => {
      await truncate(join(backup, 'SHA256SUMS'), bytes);
      expect(await restore(backup)).toMatchObject({ exitCode: 1, notes: expect.stringContaining(named) });
      await expect(readToken()).rejects.toThrow('ENOENT');
    },
  );

  it('asks for a directory: without one, and without the database, there is nothing to restore', async () => {
    expect(await restore()).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('name the directory'),
    });
  });
});
