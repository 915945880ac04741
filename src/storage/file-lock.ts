import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { identifyProcess } from './process-identity.ts';

// A lock between processes of one machine that is taken over when its owner has died.
//
// The lock is a directory of numbered files. The file with the highest number tells who holds the lock, or is empty when nobody does;
// whoever finds it free, or its owner dead, creates the next number, which only one can. The highest file is never removed:
// of two who find the same dead owner, the slower one meets a higher number than its own, however late it comes.

const pollMs = 40;

/** Runs the work while no other process holds the lock; throws when it does not get it in time, or is told to wait no longer. */
export async function withFileLock<T>(
  directory: string,
  waitMs: number,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const release = await acquireFileLock(directory, waitMs, signal);
  try {
    return await work();
  } finally {
    await release();
  }
}

/**
 * Gives back the lock that something in this process held when it ended without a word: a thread, whose death leaves the process alive.
 * Only for who knows that nothing else in this process uses the lock.
 */
export async function abandonFileLock(directory: string): Promise<void> {
  const last = await highest(directory).catch(() => 0);
  const isOurs = (await readOwner(directory, last)) === identifyProcess(process.pid);
  if (isOurs) await giveBack(directory, last);
}

/** Returns the function that gives the lock back. */
export async function acquireFileLock(
  directory: string,
  waitMs: number,
  signal?: AbortSignal,
): Promise<() => Promise<void>> {
  await mkdir(directory, { recursive: true });
  const deadline = Date.now() + waitMs;
  for (;;) {
    signal?.throwIfAborted();
    const last = await highest(directory);
    const owner = await readOwner(directory, last);
    if (!isHeld(owner)) {
      const own = last + 1;
      if (await create(directory, own)) return () => giveBack(directory, own);
    } else if (Date.now() > deadline) {
      throw new Error(
        `Process ${owner.split('@')[0]} has held the lock ${directory} for over ${waitMs / 1000} s.`,
      );
    } else {
      await delay(pollMs * (0.5 + Math.random()));
    }
  }
}

async function create(directory: string, number: number): Promise<boolean> {
  const complete = join(directory, `new-${randomUUID()}`);
  try {
    await writeFile(complete, identifyProcess(process.pid) ?? '');
    // A link appears with its whole content, and fails where one stands.
    await link(complete, join(directory, String(number)));
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(complete, { force: true });
  }
  if ((await highest(directory)) > number) {
    await rm(join(directory, String(number)), { force: true });
    return false;
  }
  const older = (await numbers(directory)).filter((other) => other < number);
  await Promise.all(older.map((other) => rm(join(directory, String(other)), { force: true })));
  return true;
}

/** Emptying a file takes no space: a lock that could not be given back on a full disk would be held for as long as the process lives. */
async function giveBack(directory: string, number: number): Promise<void> {
  try {
    await truncate(join(directory, String(number)));
  } catch (error) {
    // Somebody has removed it, and what is not there is not held either.
    if (!isCode(error, 'ENOENT')) throw error;
  }
}

/** The content of a lock file; undefined when it has been removed meanwhile, or none was ever made. */
async function readOwner(directory: string, number: number): Promise<string | undefined> {
  return readFile(join(directory, String(number)), 'utf8').catch(() => undefined);
}

function isHeld(owner: string | undefined): owner is string {
  if (owner === undefined || owner === '') return false;
  return identifyProcess(Number.parseInt(owner, 10)) === owner;
}

async function highest(directory: string): Promise<number> {
  return Math.max(0, ...(await numbers(directory)));
}

async function numbers(directory: string): Promise<number[]> {
  return (await readdir(directory)).filter((name) => /^\d+$/.test(name)).map(Number);
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
