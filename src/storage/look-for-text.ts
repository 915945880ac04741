import type { Queryable } from './database.ts';
import { likePattern, Parameters } from './parameters.ts';

// An operator looks for a part of an id, an owner or a name in a table of catalogs. No index finds that, so a list compares the first catalogs in the order of
// their keys, up to a number, and its next page goes on behind them.

export interface TextFilter {
  /** A part of its id, its name or its owner, in any case. */
  text?: string;
  /** So many catalogs at most are compared with the text. All unless given. */
  lookAt?: number;
}

/** Of the rows that `matching` names ("table where conditions"), those that have the text. */
export function matchText(matching: string, { text, lookAt }: TextFilter, given: Parameters): string {
  if (text === undefined) return matching;
  const looked = `(select * from ${matching} order by key limit ${given.add(lookAt)}) as looked`;
  const pattern = given.add(likePattern(text));
  return `${looked} where (id ilike ${pattern} or owner ilike ${pattern} or head -> 'descriptor' ->> 'name' ilike ${pattern})`;
}

/** The key of the last catalog that a list compares with a text; undefined where it compares all that are left. */
export function findEndOfLook(
  queryable: Queryable,
  matchingWith: (given: Parameters) => string,
  lookAt: number,
): Promise<number | undefined> {
  const given = new Parameters();
  return queryable.value<number | undefined>(
    `select key from ${matchingWith(given)} order by key offset ${given.add(lookAt - 1)} limit 1`,
    given.values,
  );
}
