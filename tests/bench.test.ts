import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

// The benchmarks measure what changes every day, and nobody runs them every day: here each runs in miniature, on the built files.

/** A script without types. */
const { findObstacle } = await import(new URL('../scripts/opensearch.mjs', import.meta.url).href);
const scenarios = readdirSync('bench/scenarios').map((file) => file.replace('.mjs', ''));

describe('npm run bench', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signpost-bench-rows-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it.each(scenarios)('runs the scenario %s to its end in miniature', async (scenario) => {
    await runInMiniature([scenario, '--without-opensearch']);
  });

  it.skipIf(findObstacle())(
    'asks OpenSearch the same questions in miniature, and finds the same (needs Java and Maven)',
    async () => {
      const rows = await runInMiniature(['search']);
      const compared = rows.filter(({ against }) => against?.startsWith('OpenSearch'));
      const first = compared.filter(({ scenario }) => scenario.endsWith('first time, p50'));
      expect(first.length).toBeGreaterThanOrEqual(12);
    },
  );

  it('counts no question as asked for the first time that was asked before', async () => {
    const { createLedger } = await import(new URL('../bench/search/questions.mjs', import.meta.url).href);
    const { first, again } = createLedger();
    const question = (word: string) => ({ message: { intent: { textSearch: word }, limit: 20 } });
    first(question('charger'));
    again(question('charger'));
    expect(() => first(question('charger'))).toThrow('asked before, so not for the first time');
    expect(() => again(question('parking'))).toThrow('not asked before, so not again');
  });

  it('calls a run invalid in which a yardstick is much slower than it was when it was chosen', async () => {
    const { findSlowYardsticks } = await import(
      new URL('../bench/search/yardsticks.mjs', import.meta.url).href
    );
    const measured = (engine: string, kind: string) =>
      engine === 'openSearch' && kind === 'radius' ? 5 : 0.2;
    const million = { data: 'stations', resources: 1_000_000 };
    expect(findSlowYardsticks(million, measured)).toEqual(['openSearch, radius: 5.00 ms instead of 3.8 ms']);
    expect(findSlowYardsticks({ ...million, resources: 100_000 }, measured)).toEqual([]);
  });

  async function runInMiniature(scenario: readonly string[]): Promise<Row[]> {
    const file = join(directory, `${scenario.join(' ')}.json`);
    await promisify(execFile)(
      process.execPath,
      ['bench/run.mjs', ...scenario, '--repeat', '1', '--json', file],
      {
        env: { ...ofMaven(process.env), BENCH_MINIATURE: '1', BENCH_DATABASE_URL: inject('databaseUrl') },
      },
    );
    const rows: Row[] = JSON.parse(await readFile(file, 'utf8'));
    expect(rows).not.toEqual([]);
    for (const row of rows) {
      expect(row).toMatchObject({ scenario: expect.any(String), unit: expect.any(String) });
      expect(row.value, row.scenario).toBeGreaterThanOrEqual(0);
      if (row.against) expect(row.ratio, row.scenario).toBeGreaterThanOrEqual(0);
    }
    return rows;
  }
});

interface Row {
  scenario: string;
  value: number;
  unit: string;
  against?: string;
  ratio?: number;
}

/** No setting of ours reaches the benchmarks; what Maven needs to find its repository does. */
function ofMaven(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(?:PATH|HOME|JAVA_|MAVEN_|https?_proxy$|no_proxy$)/i.test(name)),
  );
}
