import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database } from '../../storage/database.ts';
import { createCaches } from '../cache/caches.ts';
import { writeIndex } from '../write/write-index.ts';
import { keyOf } from './keys.ts';
import { loadCatalogs } from './load-catalogs.ts';
import { listMembers } from './members.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

it('All catalogs are known without being asked for, with how many resources they have, and again after they have changed.', async () => {
  const caches = createCaches();
  const reader = { ...database, caches };
  const one = await publish('one', 3);
  const many = await publish('many', 1_001);
  await loadCatalogs(reader);
  expect(caches.catalogs.find(one)).toMatchObject({ isActive: true, networkIds: ['n'] });
  expect([one, many].map((key) => caches.catalogs.findCount(key))).toEqual([3, 1_001]);

  await publish('many', 2);
  await publish('one', 3, 1); // without the first: a gap
  const other = await publish('other', 1);
  await loadCatalogs(reader);
  expect([one, many, other].map((key) => caches.catalogs.findCount(key))).toEqual([undefined, 2, 1]);
  expect([...caches.catalogs.unread]).toEqual([]);
});

it.each([
  ['their count', 3],
  ['the list of all resources, where they are too many to be counted', Number.POSITIVE_INFINITY],
  ['the database, where numbers are missing', undefined],
])('The resources of a catalog are told by %s.', async (_, resources) => {
  const caches = createCaches();
  const key = await publish('told', 3);
  await caches.catalogs.read(async (read) => read.keep(key, { state: null, resources }));
  const members = await listMembers({ ...database, caches }, Float64Array.of(keyOf(key, 0)));
  expect([...members]).toEqual([1, 2, 3].map((number) => keyOf(key, number)));
});

async function publish(id: string, count: number, from = 0): Promise<number> {
  const resources = Array.from({ length: count - from }, (_, index) => ({
    id: `${id}-${index + from}`,
    descriptor: { name: 'a' },
  }));
  const catalog = {
    id,
    descriptor: { name: id },
    provider: { id: 'p', descriptor: { name: 'p' } },
    resources,
  };
  const incoming = {
    source: 's',
    owner: 'o',
    type: 'REGULAR',
    networks: ['n'],
    mode: 'FULL',
    catalog,
  } as const;
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply([incoming])));
  const { rows } = await database.query<{ key: number }>('select key from discovery.catalog where id = $1', [
    id,
  ]);
  return rows[0]?.key ?? 0;
}
