import type { Queryable } from '../database.ts';
import { type DocumentDigests, digestDocuments, fingerprintOf } from '../fingerprint.ts';
import { type Sql, sql } from '../sql.ts';

// The discovery service's side of `signpost check`: copies of catalogs from catalog services, with fingerprints.

export interface IndexedCopy {
  key: number;
  id: string;
  owner: string;
  /** Searches find it, unless it is not active. */
  isServed: boolean;
  isActive: boolean;
  isMaster: boolean;
  /** Another copy of the same catalog is served instead. */
  isReplaced: boolean;
  pushedAt: Date | null;
  fingerprint: string;
}

const copyColumns = sql`key, id, owner, served as "isServed", is_active as "isActive", type = 'MASTER' as "isMaster", pushed_at as "pushedAt",
  exists (select from discovery.catalog as other
    where other.id = catalog.id and other.owner = catalog.owner and other.key <> catalog.key and other.served) as "isReplaced"`;
const documentsIn = (table: Sql, key: Sql) =>
  sql`select id, document from ${table} where key > ${key} << 26 and key < (${key} + 1) << 26`;
const documentsOf = (key: Sql) => ({
  resources: documentsIn(sql`discovery.resource`, key),
  offers: documentsIn(sql`discovery.offer`, key),
});

export async function findIndexedCopies(queryable: Queryable, source: string, ids: readonly string[]) {
  const { resources, offers } = documentsOf(sql`catalog.key`);
  const copies = await queryable.rows<IndexedCopy>(sql`
    select ${copyColumns}, concat_ws(' ', md5(head::jsonb::text), ${fingerprintOf(resources)}, ${fingerprintOf(offers)}) as fingerprint
    from discovery.catalog where source = ${source} and id = any (${ids}) and provider_id <> ''`);
  return new Map(copies.map((copy) => [copy.id, copy]));
}

export function listServedCopies(
  queryable: Queryable,
  source: string,
  { after, limit, ids }: { after: number; limit: number; ids?: readonly string[] },
) {
  return queryable.rows<{ key: number; id: string }>(sql`select key, id from discovery.catalog
    where source = ${source} and served and is_active and provider_id <> '' and key > ${after} and (${ids}::text[] is null
      or id = any (${ids})) order by key limit ${limit}`);
}

export function digestCopy(queryable: Queryable, key: number): Promise<DocumentDigests> {
  return digestDocuments(queryable, documentsOf(sql`${key}::bigint`));
}
