import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import type { KeyRange } from '../keys.ts';

export interface RangedDocument {
  key: number;
  /** Of its text. */
  digest: number;
  text: string;
  /** The newest generation of the index that contains its catalog. */
  generation: number;
}

/** The first documents of some key ranges, in order, including heads of catalogs. Their texts are empty if only digests are needed. Reads catalogs by key: with many ranges, PostgreSQL would read all of them. */
export function readRanged(
  queryable: Queryable,
  ranges: readonly KeyRange[],
  limit: number,
  { withDocuments = true } = {},
) {
  const ofKind = (kind: 'resource' | 'offer') =>
    `select key, digest, case when $4 then document::text else '' end as text from discovery.${kind} where key >= low and key < high order by key limit $3`;
  return queryable.rows<RangedDocument>(
    `select every.key, digest, text, generation
     from unnest($1::bigint[], $2::bigint[]) as wanted (low, high) cross join lateral (
       (${ofKind('resource')}) union all (${ofKind('offer')})
       union all (select key << 26, head_digest, case when $4 then head::text else '' end from discovery.catalog
         where key >= (low + (1 << 26) - 1) >> 26 and key < (high + (1 << 26) - 1) >> 26 and provider_id <> '' order by key limit $3)
     ) as every cross join lateral (select generation from discovery.catalog where key = every.key >> 26 limit 1) as home order by every.key limit $3`,
    [
      bigintArray(ranges.map(({ from }) => from)),
      bigintArray(ranges.map(({ end }) => end)),
      limit,
      withDocuments,
    ],
  );
}
