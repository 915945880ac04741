import type { CatalogType } from '../protocol/catalog.ts';
import type { Queryable } from './database.ts';
import { type Sql, sql } from './sql.ts';
import { likePattern } from './texts.ts';

// An operator looks for a part of an id, an owner or a name in a table of catalogs. No index finds that, so a list compares the first catalogs in the order of
// their keys, up to a number, and its next page goes on behind them.

interface TextFilter {
  /** A part of its id, its name or its owner, in any case. */
  text?: string;
  /** Maximum of catalogs compared with the text; by default all. */
  lookAt?: number;
}

export interface CatalogFilter extends TextFilter {
  owner?: string;
  type?: CatalogType;
  networkId?: string;
  limit: number;
  after?: number;
}

/** Rows of `matching` ("table where conditions") that have the text. */
export function matchText(matching: Sql, { text, lookAt }: TextFilter): Sql {
  if (text === undefined) return matching;
  const pattern = likePattern(text);
  return sql`(select * from ${matching} order by key limit ${lookAt}) as looked
    where (id ilike ${pattern} or owner ilike ${pattern} or head -> 'descriptor' ->> 'name' ilike ${pattern})`;
}

/** The key of the last catalog that a list compares with a text; undefined where it compares all that are left. */
export function findEndOfLook(queryable: Queryable, matching: Sql, lookAt: number) {
  return queryable.value<number | undefined>(sql`select key from ${matching}
    order by key offset ${lookAt - 1} limit 1`);
}
