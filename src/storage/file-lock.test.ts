import { spawn } from 'node:child_process';
import { once } from 'node:events';
import files, { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { takeTime } from '../../tests/support/time.ts';
import { abandonFileLock, acquireFileLock, LockNotFree, signOfLifeMs, withFileLock } from './file-lock.ts';
import { identifyProcess } from './process-identity.ts';

let directory: string;
let lock: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signpost-lock-'));
  lock = join(directory, 'lock');
});

afterEach(() => rm(directory, { recursive: true }));

describe('a file lock', () => {
  it('lets one in at a time', async () => {
    let [inside, most] = [0, 0];
    const visit = () =>
      withFileLock(lock, 10_000, async () => {
        most = Math.max(most, ++inside);
        await takeTime(3);
        inside--;
      });
    await Promise.all(Array.from({ length: 12 }, visit));
    expect(most).toBe(1);
    expect(await readdir(lock)).toHaveLength(1);
  });

  it('is given back when the work throws', async () => {
    await expect(withFileLock(lock, 100, () => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
    expect(await withFileLock(lock, 100, async () => 'in')).toBe('in');
  });

  it('is given back also when the disk has become full, and leaves nothing behind when it was not had', async () => {
    let makeRoom = () => {};
    const filling = withFileLock(lock, 100, async () => {
      makeRoom = fillDisk();
      throw new Error('the disk is full');
    });
    try {
      await expect(filling).rejects.toThrow('the disk is full');
      await expect(acquireFileLock(lock, 100)).rejects.toThrow('ENOSPC');
    } finally {
      makeRoom();
    }
    expect(await withFileLock(lock, 100, async () => 'in')).toBe('in');
    expect(await readdir(lock)).toHaveLength(1);
  });

  it('says who holds it when it is not free in time', async () => {
    const release = await acquireFileLock(lock, 100);
    const waiting = acquireFileLock(lock, 100);
    await expect(waiting).rejects.toThrow(LockNotFree);
    await expect(waiting).rejects.toThrow(`Process ${process.pid} has held the lock`);
    await release();
  });

  it('is taken over from a process that was killed, by one of all who want it', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', holder(lock)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    let [inside, most, visits] = [0, 0, 0];
    const visit = () =>
      withFileLock(lock, 10_000, async () => {
        most = Math.max(most, ++inside);
        await takeTime(2);
        inside--;
        visits++;
      });
    await Promise.all(Array.from({ length: 8 }, visit));
    expect({ most, visits }).toEqual({ most: 1, visits: 8 });
  });

  it('can be given back for a part of this process that is gone, and for nobody else', async () => {
    await acquireFileLock(lock, 100);
    await abandonFileLock(lock);
    expect(await withFileLock(lock, 100, async () => 'in')).toBe('in');
    const other = identifyProcess(process.ppid) ?? '';
    await writeFile(join(lock, '7'), other);
    await abandonFileLock(lock);
    await expect(acquireFileLock(lock, 50)).rejects.toThrow(`Process ${process.ppid} has held the lock`);
    await abandonFileLock(join(directory, 'never-made'));
  });

  it('is not mistaken for held when another process has got the id of its dead owner', async () => {
    await mkdir(lock);
    const before = identifyProcess(process.pid)?.replace(/@\d+@/, '@1@') ?? '';
    await writeFile(join(lock, '7'), before);
    expect(await withFileLock(lock, 100, async () => 'in')).toBe('in');
  });

  it('of a process in another container is held for as long as that gives signs of life', async () => {
    await mkdir(lock);
    const file = join(lock, '7');
    await writeFile(file, '1@1@boot\nboot/pid:[1]');
    const refusal = expect(acquireFileLock(lock, 50)).rejects.toThrow(
      /^A process of another machine or container has held the lock/,
    );
    await takeTime(100);
    const soon = new Date(Date.now() + 1_000);
    await utimes(file, soon, soon);
    await refusal;
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(file, longAgo, longAgo);
    expect(await withFileLock(lock, 100, async () => 'in')).toBe('in');
  });

  it('of a process in another container that has just died is waited for until that counts as dead, however short the wait', async () => {
    await mkdir(lock);
    const file = join(lock, '7');
    await writeFile(file, '1@1@boot\nboot/pid:[1]');
    const almostSilent = new Date(Date.now() - 29_500);
    await utimes(file, almostSilent, almostSilent);
    expect(await withFileLock(lock, 0, async () => 'in')).toBe('in');
  });

  it('gives signs of life until it is given back', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const release = await acquireFileLock(lock, 100);
      const file = join(lock, '1');
      const longAgo = new Date('2026-01-01T00:00:00.000Z');
      await utimes(file, longAgo, longAgo);
      vi.advanceTimersByTime(signOfLifeMs);
      await vi.waitUntil(async () => (await stat(file)).mtime > longAgo);
      await release();
      expect(vi.getTimerCount()).toBe(0);
      expect(await readFile(file, 'utf8')).toBe('');
    } finally {
      vi.useRealTimers();
    }
  });
});

const holder = (path: string) => `
  import { acquireFileLock } from '${new URL('../../dist/storage/file-lock.js', import.meta.url)}';
  await acquireFileLock(${JSON.stringify(path)}, 1000);
  console.log('held');
  setInterval(() => {}, 1000);
`;

/** From now on files can be created, but not written. Returns a function that ends it. */
function fillDisk(): () => void {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const write = (next: typeof writeFile) => {
    files.writeFile = next;
    syncBuiltinESMExports();
  };
  const real = files.writeFile;
  write(async (file, _data, options) => {
    await real(file, '', options);
    throw full;
  });
  return () => write(real);
}
