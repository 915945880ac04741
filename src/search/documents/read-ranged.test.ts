import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { countRowsRead } from '../../../tests/support/database/rows-read.ts';
import type { Database } from '../../storage/database.ts';
import { keyOf } from '../keys.ts';
import { readRanged } from './read-ranged.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

it('documents of many ranges are read without reading all catalogs', async () => {
  await database.query(
    `insert into discovery.catalog (key, source, owner, id, type, head, head_digest, provider_id, schema_uses, schema_types, is_active, updated_at)
     select n, 'node', 'p', 'c' || n, 'REGULAR', json_build_object('id', 'c' || n), n, 'p', '{}', '{}', true, now() from generate_series(1, 50000) as n`,
  );
  await database.query(
    `insert into discovery.resource (key, id, digest, document) select (n << 26) + 1, 'r', n, '{"id": "r"}' from generate_series(1::bigint, 50000) as n`,
  );
  await database.query('analyze discovery.catalog, discovery.resource, discovery.offer');
  const keys = Array.from({ length: 500 }, (_, n) => keyOf(n * 90 + 1, 1));
  const ranges = keys.map((key) => ({ from: key, end: key + 1 }));
  const counted = await countRowsRead(database, async (queryable) => {
    const found = await readRanged(queryable, ranges, keys.length);
    expect(found.map(({ key }) => key)).toEqual(keys);
  });
  expect(counted).toBeLessThan(5_000);
});
