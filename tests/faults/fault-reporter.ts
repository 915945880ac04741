import type { Reporter, TestModule } from 'vitest/node';
import type { FaultRow } from './fault-run.ts';

/** Prints, at the end of a run, the effects of each fault of the suite (tests/faults). */
export default class FaultReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = modules
      .flatMap((module) => [...module.children.allTests()])
      .flatMap((test) => test.meta().fault ?? [])
      .filter(({ times }) => times > 0);
    if (rows.length > 0) console.log(renderTable(rows, process.env.FAULT_SEED ?? ''));
  }
}

const columns = ['fault', 'times', 'acknowledged', 'lost', 'applied twice', 'recovery p50 s', 'max s'];

export function renderTable(rows: readonly FaultRow[], seed: string): string {
  const cells = [
    columns,
    ...rows.toSorted((one, other) => one.fault.localeCompare(other.fault)).map(toCells),
  ];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
  const kills = rows.filter(({ isKill }) => isKill).reduce((sum, { times }) => sum + times, 0);
  return ` Faults, FAULT_SEED=${seed}, ${kills} processes killed\n\n${lines.map((line) => ` ${line}\n`).join('')}`;
}

/** A scenario that failed before its end has no counts. */
function toCells({ fault, times, acknowledged, lost, appliedTwice, recoveryMs }: FaultRow): string[] {
  const sorted = recoveryMs.toSorted((one, other) => one - other);
  const seconds = (ms: number | undefined) => (ms === undefined ? '-' : (ms / 1_000).toFixed(1));
  return [
    ...[fault, `${times}`],
    ...[acknowledged, lost, appliedTwice].map((count) => (count === undefined ? 'failed' : `${count}`)),
    ...[sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map(seconds),
  ];
}
