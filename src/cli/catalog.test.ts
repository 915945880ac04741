import { beforeAll, describe, expect, it } from 'vitest';
import { seedCatalog } from '../../tests/support/catalogs/seed-catalogs.ts';
import { useDatabase } from '../../tests/support/database/database.ts';
import { runCommand } from '../../tests/support/processes/command.ts';
import { appendChange } from '../storage/catalog/change-log.ts';
import type { Database } from '../storage/database.ts';
import { register as registerCatalogCommand } from './catalog.ts';

const owner = 'bpp.example.com/subscribers.beckn.one';

describe('signpost catalog', () => {
  let database: Database;
  useDatabase((opened) => {
    database = opened;
  });
  beforeAll(async () => {
    await seedCatalog(database, { id: 'chargers', owner, resources: [{ id: 'r1' }], offers: [{ id: 'o1' }] });
    await seedCatalog(database, {
      id: 'templates',
      type: 'MASTER',
      visibleTo: ['a.org/net'],
      isActive: false,
    });
    await database.transaction(async (tx) => {
      const { rows } = await tx.query<{ key: number }>(
        `select key from catalog.catalog where id = 'chargers'`,
      );
      const at = new Date('2026-03-01T12:00:00Z');
      const change = { version: 1, publisher: owner, kind: 'published', at, details: '{}' };
      await appendChange(tx, { catalogKey: rows[0]?.key ?? 0, ...change });
    });
  });

  const catalog = (...args: string[]) =>
    runCommand(registerCatalogCommand, ['catalog', ...args], {
      DATABASE_URL: database.url,
      LOG_LEVEL: 'silent',
    });

  it('lists catalogs, all or by owner, type and network', async () => {
    const { out } = await catalog('list');
    expect(out).toMatch(/^ID +TYPE +VERSION/);
    expect(out).toMatch(/^chargers +REGULAR +1 +1 +1 +yes .* bpp\.example\.com\/subscribers\.beckn\.one /m);
    expect(out).toMatch(/^templates +MASTER +1 +0 +0 +no /m);
    const idsOf = async (...args: string[]) =>
      JSON.parse((await catalog('list', '--json', ...args)).out).map(({ id }: { id: string }) => id);
    expect(await idsOf('--owner', 'bpp.example.com')).toEqual(['chargers']);
    expect(await idsOf('--type', 'MASTER')).toEqual(['templates']);
    expect(await idsOf('--network', 'a.org/net')).toEqual(['templates']);
    expect((await catalog('list', '--owner', 'nobody.example')).out).toBe('There is no such catalog.\n');
  });

  it('says so when there are more than it lists', async () => {
    const { out, notes } = await catalog('list', '--limit', '1');
    expect(out).not.toContain('templates');
    expect(notes).toContain('--limit');
  });

  it('shows one catalog with its history', async () => {
    const { out } = await catalog('show', 'chargers');
    expect(out).toMatch(/^owner +bpp\.example\.com\/subscribers\.beckn\.one$/m);
    expect(out).toMatch(/^resources +1$/m);
    expect(out).toMatch(/^1 +published +2026-03-01T12:00:00\.000Z +bpp\.example\.com/m);
  });

  it('prints the whole catalog as JSON', async () => {
    const { out } = await catalog('show', 'chargers', '--json');
    expect(JSON.parse(out)).toMatchObject({
      id: 'chargers',
      resources: [{ id: 'r1' }],
      offers: [{ id: 'o1' }],
    });
  });

  it('releases an id, which then belongs to nobody', async () => {
    expect((await catalog('release', 'chargers')).out).toContain(`belonged to ${owner}`);
    expect((await catalog('release', 'chargers')).out).toContain('already has no owner');
    const { rows } = await database.query('select actor, action, target, outcome from console.audit');
    const released = { actor: 'cli', action: 'catalog.release', target: 'chargers', outcome: 'done' };
    expect(rows).toEqual([released, released]);
    expect((await catalog('show', 'chargers')).out).toMatch(/^owner +none/m);
  });

  it('says what to do when there is no such catalog', async () => {
    for (const args of [
      ['show', 'x'],
      ['show', 'x', '--json'],
      ['release', 'x'],
    ]) {
      const { exitCode, notes } = await catalog(...args);
      expect([exitCode, notes]).toEqual([1, 'There is no catalog x. To list them: signpost catalog list\n']);
    }
  });
});
