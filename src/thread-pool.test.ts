import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { patienceMs } from '../tests/support/patience.ts';
import { DeadlineExceeded, NoTurn, type Turn, TurnLost } from './fair-turns.ts';
import { silentLogger } from './logger.ts';
import { createThreadPool, type ThreadPool, wasEnded } from './thread-pool.ts';

// Tasks that only succeed, fail, hang or die.
const tasks = `
  import { getPriority } from 'node:os';
  import { threadId } from 'node:worker_threads';
  export const niceness = () => getPriority();
  export const lengthOf = ({ length }) => length;
  export const double = (number) => number * 2;
  export const whoAmI = async () => threadId;
  const passed = new Map();
  const passing = (name) => { if (!passed.has(name)) { const one = {}; one.over = new Promise((resolve) => { one.end = resolve; }); passed.set(name, one); } return passed.get(name); };
  export const waitFor = async (name) => { await passing(name).over; return name + ' has passed'; };
  export const pass = (name) => passing(name).end();
  export const spin = () => { for (;;); };
  export const spinUntilTold = (told) => { const begun = Atomics.add(told, 1, 1) + 1; while (Atomics.load(told, 0) === 0); return begun; };
  export const busy = (ms) => { const end = Date.now() + ms; while (Date.now() < end); return threadId; };
  export const fail = () => { throw Object.assign(new RangeError('too large'), { code: 'SCH_INVALID_JSONPATH', position: 7 }); };
  export const die = () => process.exit(1);
  export const hoard = () => { const kept = []; for (;;) kept.push(new Array(100_000).fill(kept)); };
  export const unsendable = () => () => {};
`;
let directory: string;
let module: string;
let pool: ThreadPool;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signpost-threads-'));
  await writeFile(join(directory, 'tasks.mjs'), tasks);
  module = pathToFileURL(join(directory, 'tasks.mjs')).href;
});

afterEach(() => pool.close());
afterAll(() => rm(directory, { recursive: true }));

describe('a thread pool', () => {
  it('runs exported functions and returns their results, reusing its threads', async () => {
    pool = createThreadPool({ size: 2, logger: silentLogger() });
    expect(await Promise.all([1, 2, 3, 4, 5].map((input) => run('double', input)))).toEqual([2, 4, 6, 8, 10]);
    const threads = await Promise.all(Array.from({ length: 6 }, () => run('whoAmI')));
    expect(new Set(threads).size).toBeLessThanOrEqual(2);
  });

  it('has its threads give way to the main thread, where each has a priority of its own', async () => {
    pool = createThreadPool({ size: 1, logger: silentLogger() });
    const given = process.platform === 'linux' ? Math.min(getPriority() + 10, 19) : getPriority();
    expect(await run('niceness')).toBe(given);
  });

  it('leaves its threads their priority where their work is as urgent as that of the main thread', async () => {
    pool = createThreadPool({ size: 1, givesWay: false, logger: silentLogger() });
    expect(await run('niceness')).toBe(getPriority());
  });

  it('has a thread work on several tasks at a time where it may, and tells their results apart', async () => {
    pool = createThreadPool({ size: 1, perThread: 4, logger: silentLogger() });
    const [, last, ...others] = await Promise.all([
      ...[run('pass', 3), run('waitFor', 3), run('double', 1), run('whoAmI'), run('whoAmI')],
    ]);
    expect(last).toBe('3 has passed');
    expect(others[0]).toBe(2);
    expect(new Set(others.slice(1)).size).toBe(1);
  });

  it('has other owners share its threads where those work on several tasks at a time', async () => {
    pool = createThreadPool({ size: 1, perThread: 2, logger: silentLogger() });
    const held = [runFor('one', 'waitFor', 'all'), runFor('one', 'waitFor', 'all')];
    const threads = [await runFor('two', 'whoAmI'), await runFor('three', 'whoAmI')];
    expect(new Set(threads).size).toBe(1);
    await runFor('two', 'pass', 'all');
    expect(await Promise.all(held)).toEqual(['all has passed', 'all has passed']);
  });

  it('ends a thread that takes more memory than it may, or more time, and says which; the next task gets another', async () => {
    pool = createThreadPool({ size: 1, heapMb: 30, logger: silentLogger() });
    const endOf = (task: Promise<unknown>) => task.then(() => 'a result', wasEnded);
    expect(await endOf(run('hoard', 0, patienceMs))).toBe('memory');
    expect(await run('double', 1)).toBe(2);
    expect(await endOf(pool.run({ module, name: 'spin', input: 0, deadlineMs: 300 }))).toBe('time');
    expect(await endOf(run('fail'))).toBe(false);
    expect(await endOf(run('die'))).toBe(false);
    const held = endOf(pool.run({ module, name: 'spin', input: 0, deadlineMs: 300 }));
    expect(await endOf(pool.run({ module, name: 'double', input: 0, deadlineMs: 300, waitMs: 1 }))).toBe(
      false,
    );
    await held;
  });

  it('takes parts of the input over instead of copying them', async () => {
    pool = createThreadPool({ size: 1, logger: silentLogger() });
    const input = Buffer.alloc(2_000_000, 7);
    const task = { module, name: 'lengthOf', input, transfer: [input.buffer], deadlineMs: 10_000 };
    expect(await pool.run(task)).toBe(2_000_000);
    expect(input).toHaveLength(0);
  });

  it('runs modules of ours from what was built', async () => {
    pool = createThreadPool({ size: 1, logger: silentLogger() });
    const own = {
      module: new URL('./protocol/digest.ts', import.meta.url).href,
      name: 'sha256Digest',
      deadlineMs: 5000,
    };
    expect(await pool.run({ ...own, input: Buffer.from('') })).toMatch(/^sha256:e3b0c442/);
  });

  it('passes on errors with their members', async () => {
    pool = createThreadPool({ size: 1, logger: silentLogger() });
    const error = { name: 'RangeError', message: 'too large', code: 'SCH_INVALID_JSONPATH', position: 7 };
    await expect(run('fail')).rejects.toMatchObject(error);
    expect(await run('double', 4)).toBe(8);
  });

  it('ends a task that takes too long, and only that one', async () => {
    pool = createThreadPool({ size: 2, logger: silentLogger() });
    const [stuck, other] = [run('spin', undefined, 200), run('busy', 300)];
    await expect(stuck).rejects.toThrow(DeadlineExceeded);
    expect(await other).toBeGreaterThan(0);
    expect(await Promise.all([run('double', 1), run('double', 2), run('double', 3)])).toEqual([2, 4, 6]);
  });

  it('gives an identity a thread while the tasks of another one hold all, and many more of those wait', async () => {
    pool = createThreadPool({ size: 2, logger: silentLogger() });
    const flood = Array.from({ length: 20 }, () => run('spin', undefined, 2 * patienceMs, 'flood'));
    const outcomes = Promise.allSettled(flood);
    expect(await run('double', 4, patienceMs, 'modest')).toBe(8);
    await pool.close();
    await outcomes;
  });

  it('ends a long task for the short one of another owner, and begins it again', async () => {
    pool = createThreadPool({ size: 4, shortMs: 50, logger: silentLogger() });
    const told = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    const long = ['a', 'b', 'c'].map((owner) => runFor(owner, 'spinUntilTold', told));
    expect(await runFor('modest', 'double', 4)).toBe(8);
    Atomics.store(told, 0, 1);
    const begun = await Promise.all(long);
    expect(Math.max(...(begun as number[]))).toBeGreaterThan(long.length);
  });

  it('ends what runs under a turn that is taken away, and says so', async () => {
    pool = createThreadPool({ size: 4, shortMs: 50, logger: silentLogger() });
    const turns = await Promise.all(['a', 'b', 'c'].map((owner) => pool.take(owner, patienceMs)));
    const under = (turn: Turn) =>
      pool.run({ module, name: 'spin', input: undefined, deadlineMs: patienceMs, turn });
    const outcomes = turns.map((turn) => under(turn).catch((error) => error));
    expect(await runFor('modest', 'double', 4)).toBe(8);
    expect(await Promise.race(outcomes)).toBeInstanceOf(TurnLost);
    const [lost] = turns.filter((turn) => turn.lost.aborted) as [Turn];
    await expect(under(lost)).rejects.toThrow(TurnLost);
  });

  it('tells a task that got no thread from one that took too long', async () => {
    pool = createThreadPool({ size: 1, logger: silentLogger() });
    const [running, waiting] = [run('spin', undefined, 300), run('double', 1, 100)];
    await expect(waiting).rejects.toThrow(NoTurn);
    await expect(running).rejects.not.toThrow(NoTurn);
    await expect(running).rejects.toThrow(DeadlineExceeded);
  });

  it('counts the wait for a free thread, without ending the thread of another task', async () => {
    pool = createThreadPool({ size: 1, logger: silentLogger() });
    const thread = await run('whoAmI');
    const long = run('busy', 400);
    await expect(run('double', 1, 100)).rejects.toThrow(DeadlineExceeded);
    expect(await long).toBe(thread);
  });

  it.each(['die', 'unsendable'])('survives a task that takes its thread down (%s)', async (name) => {
    pool = createThreadPool({ size: 1, logger: silentLogger() });
    await expect(run(name)).rejects.toThrow();
    expect(await run('double', 5)).toBe(10);
  });

  it('refuses input that cannot be copied, and unknown functions', async () => {
    pool = createThreadPool({ size: 1, logger: silentLogger() });
    await expect(run('double', () => 1)).rejects.toThrow('could not be cloned');
    await expect(run('triple', 1)).rejects.toThrow('exports no function "triple"');
    expect(await run('double', 5)).toBe(10);
  });

  it('rejects what is under way or waiting when it is closed', async () => {
    pool = createThreadPool({ size: 1, logger: silentLogger() });
    const outcomes = Promise.allSettled([run('spin'), run('double', 1)]);
    await pool.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(run('double', 1)).rejects.toThrow('closed');
  });
});

function runFor(owner: string, name: string, input?: unknown): Promise<unknown> {
  return run(name, input, patienceMs, owner);
}

function run(name: string, input?: unknown, deadlineMs = 5000, owner?: string): Promise<unknown> {
  return pool.run({ module, name, input, deadlineMs, owner });
}
