import { beforeAll, describe, expect, it } from 'vitest';
import { catalog } from '../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../tests/support/database/database.ts';
import { runCommand } from '../../tests/support/processes/command.ts';
import { writeIndex } from '../search/port.ts';
import type { Database } from '../storage/database.ts';
import { registerIndexCommand } from './search-index.ts';

describe('signpost index', () => {
  let database: Database;
  useDatabase((opened) => {
    database = opened;
  });
  beforeAll(async () => {
    const incoming = ['c1', 'c2'].map((id) => ({
      ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: null },
      ...{ mode: 'FULL' as const, catalog: catalog(id) },
    }));
    await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply(incoming)));
  });

  const index = (...args: string[]) =>
    runCommand(registerIndexCommand, ['index', ...args], { DATABASE_URL: database.url, LOG_LEVEL: 'silent' });

  it('status tells the version, what is left to rebuild, and who uses the index', async () => {
    const { out } = await index('status');
    expect(out).toContain('The index has version 4; this program knows up to version 4.');
    expect(out).toContain('2 of 2 catalogs have entries of version 4. Nothing is left to rebuild.');
    expect(out).toContain('No running process uses it.');
  });

  it('status tells of a rebuild that waits for processes of an older version', async () => {
    await database.query('update discovery.index_state set version = 0, next = 0');
    await database.query('update discovery.catalog set index_version = 0');
    await database.query("insert into discovery.index_process values (gen_random_uuid(), 'old one', 0)");
    const { out } = await index('status');
    expect(out).toContain('The rebuild for version 4 waits until 1 process of an older version has ended.');
    expect(out).toMatch(/old one +0/);
    expect(JSON.parse((await index('status', '--json')).out)).toMatchObject({ version: 0, newest: 4 });
    await database.query('delete from discovery.index_process');
    await database.query('update discovery.index_state set version = 4, next = 4');
    expect((await index('status')).out).toContain(
      'The others will be rebuilt when a discovery service runs.',
    );
  });

  it('rebuild makes the entries of all catalogs anew, or of one', async () => {
    expect((await index('rebuild', '--catalog', 'c2')).out).toContain(
      'Made the entries of 1 catalog with 1 resources and offers anew, in version 4.',
    );
    expect((await index('rebuild')).out).toContain(
      'Made the entries of 2 catalogs with 2 resources and offers anew',
    );
    expect((await index('rebuild', '--catalog', 'c7')).notes).toContain(
      'The index has no catalog with the id c7.',
    );
  });

  it('check lists every difference and ends with 1, and mends them where it is asked to', async () => {
    expect(await index('check')).toMatchObject({ exitCode: 0, out: '' });
    await database.query('delete from discovery.run where list = -1');
    const found = await index('check');
    expect(found.exitCode).toBe(1);
    expect(found.out.trim().split('\n')).toEqual([
      'missing: list -1 (every resource), key 67108865 (resource 1 of catalog 1), beside it 0',
      'missing: list -1 (every resource), key 134217729 (resource 1 of catalog 2), beside it 0',
    ]);
    expect(found.notes).toContain('2 differences. "signpost index check --mend" mends them.');
    expect((await index('check', '--mend')).exitCode).toBe(0);
    expect(await index('check')).toMatchObject({ exitCode: 0, out: '' });
  });
});
