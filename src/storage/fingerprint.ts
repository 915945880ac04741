import type { Queryable } from './database.ts';
import { type Sql, sql } from './sql.ts';

// Fingerprints of documents for comparisons across databases. PostgreSQL writes equal jsonb values as equal texts.

/** A number of 60 bits for a document. */
const digest = sql`('x' || substr(md5(id || ' ' || document::jsonb::text), 1, 15))::bit(60)::bigint`;

/** The SQL of a text that is equal for the same documents in any order: their count and the sum of their digests. `documents` is a query for `id` and `document`. */
export function fingerprintOf(documents: Sql): Sql {
  return sql`(select count(*) || ':' || coalesce(sum(${digest}), 0) from (${documents}) as documents)`;
}

/** The digest of each document of a catalog, by kind and id. */
export type DocumentDigests = Map<string, string>;

export async function digestDocuments(
  queryable: Queryable,
  { resources, offers }: { resources: Sql; offers: Sql },
): Promise<DocumentDigests> {
  const rows = await queryable.rows<{ name: string; digest: string }>(sql`
    select kind || ' ' || id as name, ${digest}::text as digest from (
      select 'resource' as kind, * from (${resources}) as resources union all select 'offer', * from (${offers}) as offers
    ) as documents`);
  return new Map(rows.map(({ name, digest }) => [name, digest]));
}
