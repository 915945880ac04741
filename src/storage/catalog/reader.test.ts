import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedCatalog } from '../../../tests/support/catalogs/seed-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { runs } from '../../../tests/support/reproducible.ts';
import type { Database } from '../database.ts';
import { readCatalog, readCatalogs, readDocuments } from './reader.ts';

let database: Database;

useDatabase((opened) => {
  database = opened;
});

async function join(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

async function keyOf(id: string): Promise<number> {
  const { rows } = await database.query<{ key: number }>('select key from catalog.catalog where id = $1', [
    id,
  ]);
  return rows[0]?.key ?? 0;
}

describe('reading catalogs', () => {
  it('gives every document back once, byte for byte, whatever their sizes', async () => {
    const size = fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: 400 }) },
      { weight: 1, arbitrary: fc.integer({ min: 100_000, max: 700_000 }) },
    );
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 60 }), async (sizes) => {
        round += 1;
        const id = `sizes-${round}`;
        const resources = sizes.map((bytes, index) => ({ id: `r${index}`, text: 'ü'.repeat(bytes / 2) }));
        await seedCatalog(database, { id, resources });
        const read = JSON.parse(await join(readCatalog(database, await keyOf(id))));
        const byId = (one: { id: string }, two: { id: string }) => (one.id < two.id ? -1 : 1);
        expect((read.resources ?? []).sort(byId)).toEqual(resources.sort(byId));
      }),
      { numRuns: runs(15) },
    );
  });

  it('holds no more of a catalog than a batch at a time', async () => {
    const resources = Array.from({ length: 40 }, (_, index) => ({
      id: `r${index}`,
      text: 'x'.repeat(100_000),
    }));
    await seedCatalog(database, { id: 'batches', resources });
    let documents = 0;
    for await (const { bytes, count } of readDocuments(database, 'resources', await keyOf('batches'))) {
      expect(bytes).toBeLessThan(700_000);
      documents += count;
    }
    expect(documents).toBe(40);
  });

  it('reads only what changed after a version, where one is given', async () => {
    await seedCatalog(database, { id: 'changes', resources: [{ id: 'old' }, { id: 'new' }] });
    const key = await keyOf('changes');
    await database.query(
      `update catalog.resource set changed_version = 7 where catalog_key = $1 and id = 'new'`,
      [key],
    );
    const read = async (changedAfter: number) => {
      const texts: string[] = [];
      for await (const { text } of readDocuments(database, 'resources', key, { changedAfter }))
        texts.push(text);
      return texts;
    };
    expect(await read(6)).toEqual(['{"id":"new"}']);
    expect(await read(7)).toEqual([]);
  });

  it('shows one snapshot, whatever changes meanwhile', async () => {
    const visibleTo = ['snapshot.org/net'];
    for (const id of ['s1', 's2'])
      await seedCatalog(database, { id, visibleTo, resources: [{ id: 'before' }] });
    const text = await database.transaction(
      async (snapshot) => {
        const selection = { networkIds: visibleTo, schemaTypes: [], limit: 10, offset: 0 };
        const { total, pieces } = await readCatalogs(snapshot, selection);
        expect(total).toBe(2);
        await database.query(`update catalog.resource set own = '{"id":"after"}' where id = 'before'`);
        await seedCatalog(database, { id: 's3', visibleTo });
        return join(pieces);
      },
      { isolation: 'repeatable read' },
    );
    expect(JSON.parse(text)).toMatchObject([
      { resources: [{ id: 'before' }] },
      { resources: [{ id: 'before' }] },
    ]);
  });

  it('is an empty array where nothing matches', async () => {
    const selection = { networkIds: ['nobody.org/net'], schemaTypes: [], limit: 10, offset: 0 };
    const { total, pieces } = await readCatalogs(database, selection);
    expect([total, await join(pieces)]).toEqual([0, '[]']);
  });
});
