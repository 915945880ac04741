import { beforeAll, describe, expect, it } from 'vitest';
import { catalog } from '../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../tests/support/database/database.ts';
import { runCommand } from '../../tests/support/processes/command.ts';
import { writeIndex } from '../search/port.ts';
import type { Database } from '../storage/database.ts';
import { register as registerIndexCommand } from './search-index.ts';

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

  it('status shows the generation that searches read, what is left to build, and who uses the index', async () => {
    const { out } = await index('status');
    expect(out).toContain(
      'Searches read generation 1 of the index (version 1); this program supports versions up to 1.',
    );
    expect(out).toContain('Nothing is left to build.');
    expect(out).toContain('No running process uses it.');
  });

  it('status shows a generation that waits for processes of an older version, and one that is being built', async () => {
    await database.query('update discovery.generation set version = 0');
    await database.query("insert into discovery.index_process values (gen_random_uuid(), 'old one', 0)");
    const { out } = await index('status');
    expect(out).toContain(
      'The generation for version 1 waits until 1 process of an older version has ended.',
    );
    expect(out).toMatch(/old one +0/);
    expect(JSON.parse((await index('status', '--json')).out)).toMatchObject({
      inUse: { version: 0 },
      newest: 1,
    });
    await database.query('delete from discovery.index_process');
    await database.query('update discovery.generation set version = 1');
    await database.query(
      "insert into discovery.generation (number, version, state) values (2, 1, 'building')",
    );
    expect((await index('status')).out).toContain(
      '0 of 2 catalogs are in generation 2, of version 1. The others will be built when a discovery service runs.',
    );
    await database.query('delete from discovery.generation where number = 2');
  });

  it('rebuild mends the entries of one catalog', async () => {
    expect((await index('rebuild', '--catalog', 'c2')).out).toContain(
      'Compared 2 documents of the catalog c2 with their entries; repaired the entries of 0.',
    );
    expect((await index('rebuild', '--catalog', 'c7')).notes).toContain(
      'The index has no catalog with the id c7.',
    );
  });

  it('check lists every difference and ends with 1, and mends them where it is asked to', async () => {
    expect(await index('check')).toMatchObject({ exitCode: 0, out: '' });
    await database.query('delete from index_1.run where list = -2');
    const found = await index('check');
    expect(found.exitCode).toBe(1);
    for (const line of found.out.trim().split('\n'))
      expect(line).toMatch(
        /^missing: list -2 \(word 1\), key \d+ \((resource 1|catalog 0) of catalog [12]\), beside it \d+$/,
      );
    expect(found.notes).toContain('differences. "signpost index check --mend" mends them.');
    expect((await index('check', '--mend')).exitCode).toBe(0);
    expect(await index('check')).toMatchObject({ exitCode: 0, out: '' });
  });

  it('rebuild builds a new generation from all documents', async () => {
    expect((await index('rebuild')).out).toContain(
      'Built a new generation of the index from 2 catalogs with 2 resources and offers, in version 1. Searches read it now.',
    );
    expect((await index('status')).out).toContain('Searches read generation 2 of the index');
  });
});
