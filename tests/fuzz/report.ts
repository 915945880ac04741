import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Found, Row } from './runner.ts';
import type { FaultKind } from './target.ts';

/** A row of the table. */
export function summarize({ target, cases, accepted, refused, seconds, faults, after }: Row) {
  const count = (...kinds: FaultKind[]) => faults.filter(({ kind }) => kinds.includes(kind)).length;
  const [most] = Object.entries(after).sort(([, a], [, b]) => b.peak - a.peak);
  return {
    ...{ target, cases, accepted, refused: byClass(refused) },
    ...{ '5xx': count('5xx'), crashes: count('crash'), 'other faults': count('memory', 'other') },
    ...{ seconds: Math.round(seconds), 'cases/s': Math.round(cases / seconds) },
    'peak memory': most ? `${most[1].peak} MB (${most[0]})` : '',
  };
}

/** Codes by the part before their first underscore, and all others unchanged. */
function byClass(refused: Row['refused']): string {
  const classes = new Map<string, number>();
  for (const [code, times] of Object.entries(refused)) {
    const name = /^[A-Z]+(?=_)/.exec(code)?.[0] ?? code;
    classes.set(name, (classes.get(name) ?? 0) + times);
  }
  const sorted = [...classes].sort(([, a], [, b]) => b - a);
  return sorted.map(([name, times]) => `${name} ${times}`).join(', ');
}

/** The report after a target: every code, and the memory of every process. */
export function describeRow({ target, cases, accepted, refused, seconds, faults, after }: Row): string {
  const memory = Object.entries(after).map(([name, { heap, peak }]) => `${name} ${heap}/${peak}`);
  return JSON.stringify({
    ...{ target, cases, accepted, refused, faults: faults.length, seconds: Math.round(seconds) },
    'MB of heap/peak': memory.join(', '),
  });
}

/** In MB. */
export interface MemoryBounds {
  /** Highest resident set at any time. */
  peak: number;
  /** Growth of the heap between the first and the last target, after garbage collection. */
  growth: number;
}

/** Processes whose memory exceeds its bounds. */
export function findGrowth(rows: readonly Row[], bounds: MemoryBounds): Found[] {
  const [first, last] = [rows[0]?.after ?? {}, rows.at(-1)?.after ?? {}];
  const found = (what: string): Found => ({ kind: 'memory', what });
  const high = rows.flatMap(({ target, after }) =>
    Object.entries(after)
      .filter(([, { peak }]) => peak > bounds.peak)
      .map(([name, { peak }]) => found(`${name} had ${peak} MB during: ${target}`)),
  );
  const grown = Object.entries(last)
    .map(([name, { heap }]) => ({ name, heap, was: first[name]?.heap ?? 0 }))
    .filter(({ heap, was }) => heap - was > bounds.growth)
    .map(({ name, heap, was }) => found(`the heap of ${name} grew from ${was} to ${heap} MB`));
  return [...high, ...grown];
}

/** Each kind of fault once, with the shortest case. A file gets the faults of all cases. */
export function describeFaults(rows: readonly Pick<Row, 'target' | 'faults'>[]): string {
  const all = rows.flatMap(({ target, faults }) => faults.map((fault) => ({ target, ...fault })));
  if (all.length === 0) return '';
  const file = join(tmpdir(), `signpost-fuzz-${process.pid}.json`);
  writeFileSync(file, JSON.stringify(all, null, 1));
  const kinds = new Map<string, Found & { target: string; times: number }>();
  for (const fault of all.sort((a, b) => sizeOf(a) - sizeOf(b))) {
    const kind = fault.what.replace(/\d+|"[^"]{0,80}"/g, '#').slice(0, 160);
    kinds.set(kind, { ...(kinds.get(kind) ?? fault), times: (kinds.get(kind)?.times ?? 0) + 1 });
  }
  const shown = [...kinds.values()].map(
    ({ target, what, times, case: one }) =>
      `${times} × ${target}: ${what.slice(0, 900)}\n  case: ${JSON.stringify(one)?.slice(0, 1_500)}`,
  );
  return `${shown.join('\n\n')}\n\nAll of them: ${file}`;
}

function sizeOf({ case: one }: Found): number {
  return JSON.stringify(one)?.length ?? Number.POSITIVE_INFINITY;
}
