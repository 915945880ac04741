import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject } from 'vitest';

export const scenarios: readonly string[] = readdirSync('bench/scenarios').map((file) =>
  file.replace('.mjs', ''),
);

/** Even in miniature they take a quarter of a minute each. */
export const longScenarios: readonly string[] = [
  'crawl',
  'relevance',
  'search',
  'search-caches',
  'slo',
  'telemetry',
  'workers',
];

export interface Row {
  scenario: string;
  value: number;
  unit: string;
  against?: string;
  ratio?: number;
}

/** Runs a scenario of `npm run bench` in miniature, on the built files, and returns its rows. */
export async function benchInMiniature(
  scenario: readonly string[],
  settings: Record<string, string> = {},
): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'signpost-bench-rows-'));
  try {
    const file = join(directory, 'rows.json');
    const args = ['bench/run.mjs', ...scenario, '--repeat', '1', '--json', file];
    // None of our settings reaches the benchmarks.
    const env = { PATH: process.env.PATH, BENCH_MINIATURE: '1', BENCH_DATABASE_URL: inject('databaseUrl') };
    await promisify(execFile)(process.execPath, args, { env: { ...env, ...settings } });
    const rows: Row[] = JSON.parse(await readFile(file, 'utf8'));
    expect(rows).not.toEqual([]);
    for (const row of rows) {
      expect(row).toMatchObject({ scenario: expect.any(String), unit: expect.any(String) });
      expect(row.value, row.scenario).toBeGreaterThanOrEqual(0);
      // JSON turns a ratio that is not a number into null.
      if (row.ratio !== undefined) expect(row.ratio, row.scenario).toBeGreaterThanOrEqual(0);
    }
    return rows;
  } finally {
    await rm(directory, { recursive: true });
  }
}
