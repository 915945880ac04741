import type { Queryable } from '../database.ts';
import { type DocumentDigests, digestOf, fingerprintOf, toDigests } from '../fingerprint.ts';

// What `signpost check` compares of a discovery service with the catalog services that it subscribes to: copies of catalogs with fingerprints.

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

const copyColumns = `key, id, owner, served as "isServed", is_active as "isActive", type = 'MASTER' as "isMaster", pushed_at as "pushedAt",
  exists (select from discovery.catalog as other
    where other.id = catalog.id and other.owner = catalog.owner and other.key <> catalog.key and other.served) as "isReplaced"`;
const documentsOf = (kind: 'resource' | 'offer', key: string) =>
  `select id, document from discovery.${kind} where key > ${key} << 26 and key < (${key} + 1) << 26`;

/** The copies that a catalog service brought, by id. */
export async function findIndexedCopies(queryable: Queryable, source: string, ids: readonly string[]) {
  const { rows } = await queryable.query<IndexedCopy & { content: string[] }>(
    `select ${copyColumns}, md5(head::jsonb::text) as fingerprint,
       array[${fingerprintOf(documentsOf('resource', 'catalog.key'))}, ${fingerprintOf(documentsOf('offer', 'catalog.key'))}] as content
     from discovery.catalog where source = $1 and id = any ($2) and provider_id <> ''`,
    [source, ids],
  );
  return new Map(
    rows.map(({ content, ...row }) => [
      row.id,
      { ...row, fingerprint: [row.fingerprint, ...content].join(' ') },
    ]),
  );
}

/** Those that searches find, after a key. */
export function listServedCopies(
  queryable: Queryable,
  source: string,
  { after, limit, ids }: { after: number; limit: number; ids?: readonly string[] },
) {
  return queryable.rows<{ key: number; id: string }>(
    `select key, id from discovery.catalog
     where source = $1 and served and is_active and provider_id <> '' and key > $2 and ($4::text[] is null or id = any ($4)) order by key limit $3`,
    [source, after, limit, ids ?? null],
  );
}

export async function digestCopy(queryable: Queryable, key: number): Promise<DocumentDigests> {
  const { rows } = await queryable.query<{ kind: string; id: string; digest: string }>(
    `select kind, id, ${digestOf('id', 'document')}::text as digest from (
       select 'resource' as kind, * from (${documentsOf('resource', '$1::bigint')}) as resources
       union all select 'offer', * from (${documentsOf('offer', '$1::bigint')}) as offers
     ) as documents`,
    [key],
  );
  return toDigests(rows);
}
