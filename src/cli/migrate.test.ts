import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../../tests/support/database/database.ts';
import { runCommand } from '../../tests/support/processes/command.ts';
import { register as registerMigrateCommand } from './migrate.ts';

const newest = readdirSync('migrations').sort().at(-1);

describe('signpost migrate', () => {
  let home: TestDatabase;
  beforeAll(async () => {
    home = await createEmptyDatabase();
  });
  afterAll(() => home.drop());

  const migrate = (env: Record<string, string>, ...args: string[]) =>
    runCommand(registerMigrateCommand, ['migrate', ...args], { LOG_LEVEL: 'silent', ...env });

  it('gives an empty database all migrations and names the last one, as often as it is called', async () => {
    for (const args of [[], ['--json']]) {
      const { exitCode, out } = await migrate({ DATABASE_URL: home.url }, ...args);
      expect(exitCode).toBe(0);
      expect(out).toContain(newest);
    }
  });

  it('asks for DATABASE_URL', async () => {
    const { exitCode, notes } = await migrate({});
    expect(exitCode).toBe(1);
    expect(notes).toMatch(/^Set DATABASE_URL/);
  });

  it('fails with a sentence where there is no such database', async () => {
    const url = new URL(inject('databaseUrl'));
    url.pathname = '/nothing-of-this-name';
    const { exitCode, notes } = await migrate({ DATABASE_URL: url.href });
    expect(exitCode).toBe(1);
    expect(notes).toContain('nothing-of-this-name');
  });
});
