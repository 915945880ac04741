import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

// The short form of `npm run test:attack`: a few attacks of a few seconds each, without time limits. See tests/attack/run.mjs.

const attacks = ['made-up-record-ids', 'stalled-bodies-forged', 'slow-names'];

describe('while one attacker does its worst', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signpost-attack-rows-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('an honest client is refused nothing: by made-up keys of its own name, by bodies under its name that never end, nor by a receiver whose name is never resolved', async () => {
    const file = join(directory, 'rows.json');
    const run = promisify(execFile)(
      process.execPath,
      ['tests/attack/run.mjs', '--smoke', '--json', file, ...attacks],
      { env: { PATH: process.env.PATH, ATTACK_DATABASE_URL: inject('databaseUrl') } },
    );
    // A missed bound means exit code 1; the rows say which one.
    await run.catch(() => undefined);
    const { rows } = JSON.parse(await readFile(file, 'utf8'));
    expect(rows.map(({ attack, broken }: Row) => ({ attack, broken }))).toEqual(
      attacks.map((attack) => ({ attack, broken: [] })),
    );
    for (const { during } of rows as Row[]) expect(during.requests).toBeGreaterThan(15);
  });
});

interface Row {
  attack: string;
  broken: string[];
  during: { requests: number };
}
