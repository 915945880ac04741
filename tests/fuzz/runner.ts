import fc from 'fast-check';
import { findBugs } from './oracle.ts';
import type { Scene } from './scene.ts';
import { accepted, Fault, type FaultKind, type Target } from './target.ts';
import type { Memory } from './watched-process.ts';

// Tries the cases of each target, and records what must not happen: a Fault of a case, a process that ended or is not ready, a log line that
// indicates a bug, memory growth.

export interface Row {
  target: string;
  cases: number;
  accepted: number;
  /** By code. */
  refused: Record<string, number>;
  seconds: number;
  /** The findings, each with its case. */
  faults: Found[];
  /** By process, after the cases of the target. */
  after: Record<string, Memory>;
}

export interface Found {
  kind: FaultKind;
  what: string;
  /** Undefined if it belongs to no single case. */
  case?: unknown;
}

export interface RunOptions {
  seed: number;
  cases: number;
  /** Called after each target. */
  tell?: (row: Row) => void;
}

/** Cases drawn at a time, and so in memory. */
const chunk = 100;
/** Enough faults to know that a target is broken. */
const maxFaults = 20;

/** Targets have different types of cases, which the runner does not know. */
export type AnyTarget = Target<never>;

export async function runTargets(
  scene: Scene,
  targets: readonly AnyTarget[],
  { seed, cases, tell }: RunOptions,
): Promise<Row[]> {
  const weights = targets.reduce((sum, { weight }) => sum + weight, 0);
  const rows: Row[] = [];
  for (const target of targets) {
    const count = Math.max(1, Math.ceil((cases * target.weight) / weights));
    const { cases: known } = target;
    const drawn = typeof known === 'function' ? await known(scene) : known;
    const row = await runTarget(scene, target, drawCases(drawn, seed + hashOf(target.name), count));
    rows.push(row);
    tell?.(row);
    // A dead process can show nothing more.
    if (row.faults.some(({ kind }) => kind === 'crash')) break;
  }
  return rows;
}

/** The same seed draws the same cases, and a smaller number draws the first of them. */
function* drawCases(cases: fc.Arbitrary<unknown>, seed: number, count: number): Generator<unknown> {
  for (let drawn = 0; drawn < count; drawn += chunk) {
    yield* fc.sample(cases, { seed: (seed + drawn) | 0, numRuns: Math.min(chunk, count - drawn) });
  }
}

function hashOf(text: string): number {
  return [...text].reduce((hash, character) => (Math.imul(hash, 31) + character.charCodeAt(0)) | 0, 7);
}

export async function runTarget(scene: Scene, target: AnyTarget, cases: Iterable<unknown>): Promise<Row> {
  const row: Row = {
    ...{ target: target.name, cases: 0, accepted: 0, refused: {}, seconds: 0, faults: [] },
    after: {},
  };
  const started = performance.now();
  const tried = new Map<string, unknown>();
  const underWay = new Set<unknown>();
  const waiting = cases[Symbol.iterator]();
  const work = async () => {
    for (let next = waiting.next(); !next.done && row.faults.length < maxFaults; next = waiting.next()) {
      const id = `fuzz-${slug(target.name)}-${row.cases++}`;
      tried.set(id, next.value);
      underWay.add(next.value);
      await tryCase(scene, target, next.value, id, row);
      if (await noteCrashes(scene, underWay, row)) return;
      underWay.delete(next.value);
      if (row.cases % 500 === 0) readLogs(scene, tried, row);
    }
  };
  await Promise.all(Array.from({ length: target.concurrency ?? 1 }, work));
  await target.finish?.(scene).catch((error) => note(row, error));
  row.seconds = (performance.now() - started) / 1000;
  await noteCrashes(scene, underWay, row);
  readLogs(scene, tried, row);
  const unready = await scene.findUnready();
  if (unready !== undefined) row.faults.push({ kind: 'other', what: `not ready: ${unready}` });
  row.after = await memories(scene);
  return row;
}

async function tryCase(scene: Scene, target: AnyTarget, one: unknown, id: string, row: Row): Promise<void> {
  try {
    const outcome = await target.run(scene, one as never, id);
    if (outcome === accepted) row.accepted++;
    else row.refused[outcome] = (row.refused[outcome] ?? 0) + 1;
  } catch (error) {
    note(row, error, one);
  }
}

function note(row: Row, error: unknown, one?: unknown): void {
  const [kind, what] =
    error instanceof Fault
      ? [error.kind, error.message]
      : (['other', String((error as Error)?.stack ?? error)] as const);
  row.faults.push({ kind, what, case: one });
}

/** Whether a process has ended. One of the running cases caused it. */
async function noteCrashes({ processes }: Scene, underWay: ReadonlySet<unknown>, row: Row): Promise<boolean> {
  const ended = processes.filter(({ isRunning }) => !isRunning());
  const cases = [...underWay];
  for (const { name, howEnded } of ended) {
    const what = `the process of ${name} has ended with ${await howEnded()}`;
    if (row.faults.every((fault) => fault.what !== what))
      row.faults.push({ kind: 'crash', what, case: cases });
  }
  return ended.length > 0;
}

/** A line with the id of a case is a fault of that case. */
function readLogs(scene: Scene, tried: Map<string, unknown>, row: Row): void {
  for (const process of scene.processes) {
    for (const line of findBugs(process.takeLog())) {
      const id = /fuzz-[a-z0-9-]+-\d+/.exec(line)?.[0] ?? '';
      const what = `the log of ${process.name}: ${line.slice(0, 1_500)}`;
      row.faults.push({ kind: 'other', what, case: tried.get(id) });
    }
  }
  tried.clear();
}

async function memories(scene: Scene): Promise<Record<string, Memory>> {
  const alive = scene.processes.filter(({ isRunning }) => isRunning());
  return Object.fromEntries(
    await Promise.all(alive.map(async (process) => [process.name, await process.memory()] as const)),
  );
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 24);
}
