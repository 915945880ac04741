import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../error-code.ts';
import { identifyProcess, placeOfProcess } from './process-identity.ts';

// A lock between processes that survives the death of its owner. On the same machine and in the same container, the lock of a dead owner is free at
// once; from another container, or a machine that shares the directory, after a time without a sign of life.
//
// The lock is a directory of numbered files. The file with the highest number names the owner, or is empty if there is none. A process that finds the
// lock free, or its owner dead, creates the next number, which only one process can do. The highest file is never removed: of two that find the same
// dead owner, the slower one finds a higher number than its own, however late it is.

const pollMs = 40;
/** How often the owner of a lock gives a sign of life, and after what time without one it counts as dead, if nothing else is known of it. */
export const signOfLifeMs = 5_000;
const silenceMs = 30_000;

/** The lock was not free in time. The message is for the operator. */
export class LockNotFree extends Error {
  override readonly name = 'LockNotFree';
  /** Undefined if the owner is on another machine or in another container: its number means nothing here. */
  readonly ownerPid: number | undefined;

  constructor(message: string, ownerPid: number | undefined) {
    super(message);
    this.ownerPid = ownerPid;
  }
}

/** Runs the work while no other process holds the lock; throws if it does not get the lock in time, or if the wait is cancelled. */
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

/** Releases the lock of a dead thread: this process lives, so the lock counts as held. Only if nothing else in this process uses the lock. */
export async function abandonFileLock(directory: string): Promise<void> {
  const last = await highest(directory).catch(() => 0);
  if ((await readOwner(directory, last))?.text === ownText()) await giveBack(directory, last);
}

/** Returns the function that releases the lock. An owner from elsewhere may have died: it waits for a sign of life or a long enough silence, even if `waitMs` is shorter. */
export async function acquireFileLock(directory: string, waitMs: number, signal?: AbortSignal) {
  await mkdir(directory, { recursive: true });
  const started = Date.now();
  let firstSign: number | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const last = await highest(directory);
    const owner = await readOwner(directory, last);
    if (owner === undefined || !isHeldBy(owner)) {
      const own = last + 1;
      if (await create(directory, own)) return hold(directory, own);
      continue;
    }
    const sign = owner.lastSign.getTime();
    firstSign ??= sign;
    const mayBeDead = isElsewhere(owner) && sign === firstSign;
    const patienceMs = mayBeDead ? Math.max(waitMs, silenceMs) : waitMs;
    if (Date.now() - started > patienceMs) throw notFree(directory, owner, patienceMs);
    await delay(pollMs * (0.5 + Math.random()));
  }
}

function notFree(directory: string, owner: Owner, waitedMs: number): LockNotFree {
  const pid = isElsewhere(owner) ? undefined : Number.parseInt(owner.text, 10);
  const holder = pid === undefined ? 'A process of another machine or container' : `Process ${pid}`;
  return new LockNotFree(`${holder} has held the lock ${directory} for over ${waitedMs / 1000} s.`, pid);
}

function hold(directory: string, number: number): () => Promise<void> {
  const signs = setInterval(() => {
    const now = new Date();
    // If the directory was removed, there is nothing to hold.
    utimes(join(directory, String(number)), now, now).catch(() => undefined);
  }, signOfLifeMs).unref();
  return () => {
    clearInterval(signs);
    return giveBack(directory, number);
  };
}

async function create(directory: string, number: number): Promise<boolean> {
  const complete = join(directory, `new-${randomUUID()}`);
  try {
    await writeFile(complete, ownText());
    // A link appears with its whole content, and fails if one exists.
    await link(complete, join(directory, String(number)));
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
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

/** Emptying a file takes no space: otherwise, a lock that could not be released on a full disk would be held for the life of the process. */
async function giveBack(directory: string, number: number): Promise<void> {
  try {
    await truncate(join(directory, String(number)));
  } catch (error) {
    // If the directory was removed, it is not held either.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

interface Owner {
  text: string;
  lastSign: Date;
}

async function readOwner(directory: string, number: number): Promise<Owner | undefined> {
  const file = join(directory, String(number));
  try {
    return { text: await readFile(file, 'utf8'), lastSign: (await stat(file)).mtime };
  } catch {
    return undefined;
  }
}

function ownText(): string {
  return `${identifyProcess(process.pid)}\n${placeOfProcess()}`;
}

function isHeldBy(owner: Owner): boolean {
  const [identity = ''] = owner.text.split('\n');
  if (identity === '') return false;
  if (isElsewhere(owner)) return Date.now() - owner.lastSign.getTime() < silenceMs;
  return identifyProcess(Number.parseInt(identity, 10)) === identity;
}

function isElsewhere({ text }: Owner): boolean {
  const here = placeOfProcess();
  const [, place = here] = text.split('\n');
  return place !== here;
}

async function highest(directory: string): Promise<number> {
  return Math.max(0, ...(await numbers(directory)));
}

async function numbers(directory: string): Promise<number[]> {
  return (await readdir(directory)).filter((name) => /^\d+$/.test(name)).map(Number);
}
