import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

// The benchmarks measure what changes every day, and nobody runs them every day: here each runs in miniature, on the built files.

const scenarios = readdirSync('bench/scenarios').map((file) => file.replace('.mjs', ''));

describe('npm run bench', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signpost-bench-rows-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it.each(scenarios)('runs the scenario %s to its end in miniature', async (scenario) => {
    const file = join(directory, `${scenario}.json`);
    await promisify(execFile)(
      process.execPath,
      ['bench/run.mjs', scenario, '--repeat', '1', '--json', file],
      {
        env: { PATH: process.env.PATH, BENCH_MINIATURE: '1', BENCH_DATABASE_URL: inject('databaseUrl') },
      },
    );
    const rows = JSON.parse(await readFile(file, 'utf8'));
    expect(rows).not.toEqual([]);
    for (const row of rows) {
      expect(row).toMatchObject({ scenario: expect.any(String), unit: expect.any(String) });
      expect(row.value, row.scenario).toBeGreaterThanOrEqual(0);
      if (row.against) expect(row.ratio, row.scenario).toBeGreaterThanOrEqual(0);
    }
  });
});
