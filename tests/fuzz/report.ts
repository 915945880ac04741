import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Found, Row } from './runner.ts';

/** What a table shows of a row. */
export function summarize({ target, cases, accepted, refused, seconds, faults, before, after }: Row) {
  const codes = Object.entries(refused).sort(([, a], [, b]) => b - a);
  const memory = Object.entries(after).map(([roles, { rss, heap }]) => {
    const was = before[roles];
    return `${roles} ${was?.rss}→${rss} (heap ${was?.heap}→${heap})`;
  });
  return {
    ...{ target, cases, accepted },
    refused: codes.map(([code, count]) => `${code} ${count}`).join(', '),
    ...{ faults: faults.length, seconds: Math.round(seconds), 'memory MB': memory.join(', ') },
  };
}

/** Faults of the same kind once, with the shortest case. Those of all cases are written to a file. */
export function describeFaults(rows: readonly Row[]): string {
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
