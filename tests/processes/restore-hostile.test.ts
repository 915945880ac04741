import { execFile, execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeChecksums } from '../../src/cli/backup/checksums.ts';
import { commandLine } from '../support/processes/up-process.ts';

// The built `signpost restore`, with a backup that was altered or lost its file modes. It must never open a file that never ends.

let directory: string;
let backup: string;
let dataDir: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signpost-hostile-'));
  [backup, dataDir] = [join(directory, 'backup'), join(directory, 'restored')];
  await mkdir(join(backup, 'data', 'keys'), { recursive: true });
  await mkdir(join(backup, 'publisher', 'public'), { recursive: true });
  for (const path of secrets) await writeFile(join(backup, path), 'secret');
  await writeFile(join(backup, 'publisher', 'public', 'index.json'), '{}');
  const bytes = await writeChecksums(backup);
  const facts = { madeAt: '2026-01-31T12:00:00Z', hasDatabase: false, hasPublisher: true, bytes };
  await writeFile(join(backup, 'backup.json'), JSON.stringify(facts));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const secrets = ['data/keys/a.seed', 'data/operator-token', 'publisher/trigger-token'];
const digest = '0'.repeat(64);

interface Run {
  exitCode: number;
  notes: string;
  /** It did not end, so the test ended it. */
  isHanging: boolean;
}

/** Much longer than a refusal takes, even on a busy machine. */
const hangingMs = 60_000;

function restore(): Promise<Run> {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, PUBLISHER_DIR: join(directory, 'publisher') };
  const options = { env, cwd: directory, timeout: hangingMs, killSignal: 'SIGKILL' as const };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [commandLine, 'restore', backup, '--no-database'],
      options,
      (error, _out, notes) =>
        resolve({ exitCode: Number(error?.code ?? 0), notes, isHanging: error?.killed === true }),
    );
  });
}

const addLine = async (path: string) =>
  writeFile(join(backup, 'SHA256SUMS'), `${await readList()}${digest}  ${path}\n`);
const readList = () => readFile(join(backup, 'SHA256SUMS'), 'utf8');
const makePipe = (path: string) => execFileSync('mkfifo', [join(backup, path)]);

describe('signpost restore refuses at once, and restores nothing, where', () => {
  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'SHA256SUMS names a device outside of the backup',
      () => addLine('../../../../../../../../dev/zero'),
      /is damaged\. .*dev\/zero\. Nothing was restored/,
    ],
    [
      'SHA256SUMS names a file outside of the backup',
      async () => {
        await writeFile(join(directory, 'large'), '');
        await truncate(join(directory, 'large'), 2 ** 42);
        await addLine('../large');
      },
      /is damaged\. .*\.\.\/large\. Nothing/,
    ],
    [
      'SHA256SUMS names a pipe',
      async () => {
        makePipe('data/pipe');
        await addLine('data/pipe');
      },
      /is damaged\. .*data\/pipe/,
    ],
    [
      'SHA256SUMS names a link to a device',
      async () => {
        await symlink('/dev/zero', join(backup, 'data', 'link'));
        await addLine('data/link');
      },
      /is damaged\. .*data\/link/,
    ],
    [
      'SHA256SUMS names a file of four terabytes that was not backed up',
      async () => {
        await writeFile(join(backup, 'data', 'large'), '');
        await truncate(join(backup, 'data', 'large'), 2 ** 42);
        await addLine('data/large');
      },
      /is damaged: its files have more than the \d+ bytes that were backed up/,
    ],
    ['there is a pipe that SHA256SUMS does not name', async () => makePipe('data/pipe'), /data\/pipe/],
    [
      'SHA256SUMS is a pipe',
      async () => {
        await rm(join(backup, 'SHA256SUMS'));
        makePipe('SHA256SUMS');
      },
      /SHA256SUMS is not a regular file/,
    ],
    [
      'SHA256SUMS is a link to a device',
      async () => {
        await rm(join(backup, 'SHA256SUMS'));
        await symlink('/dev/zero', join(backup, 'SHA256SUMS'));
      },
      /SHA256SUMS is not a regular file/,
    ],
    [
      'SHA256SUMS is larger than a list of the files can be',
      () => truncate(join(backup, 'SHA256SUMS'), 2 ** 42),
      /SHA256SUMS has more than \d+ bytes/,
    ],
    [
      'backup.json is a pipe',
      async () => {
        await rm(join(backup, 'backup.json'));
        makePipe('backup.json');
      },
      /has no readable backup\.json/,
    ],
  ])('%s', async (_what, spoil, message) => {
    await spoil();
    expect(await restore()).toEqual({
      ...{ exitCode: 1, isHanging: false, notes: expect.stringMatching(message) },
    });
    expect(await readdir(directory)).not.toContain('restored');
  });
});

describe('signpost restore', () => {
  it('has keys and tokens readable by their owner alone, whatever modes the backup has by now', async () => {
    for (const path of secrets) await chmod(join(backup, path), 0o644);
    await chmod(join(backup, 'data', 'keys'), 0o755);
    await chmod(join(backup, 'publisher', 'public', 'index.json'), 0o644);
    expect(await restore()).toMatchObject({ exitCode: 0 });
    const modeOf = async (...path: string[]) => (await stat(join(directory, ...path))).mode & 0o777;
    expect(await modeOf('restored', 'keys', 'a.seed')).toBe(0o600);
    expect(await modeOf('restored', 'keys')).toBe(0o700);
    expect(await modeOf('restored', 'operator-token')).toBe(0o600);
    expect(await modeOf('publisher', 'trigger-token')).toBe(0o600);
    // Everybody may read published files, for example a web server.
    expect(await modeOf('publisher', 'public', 'index.json')).toBe(0o644);
  });
});
