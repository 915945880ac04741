import { replaceParams } from '../../router.ts';
import { type FindQuery, toParams } from '../../search/query.ts';

/** Changes the search, and returns to its first page unless the change is another page. */
export function changeQuery(query: FindQuery, change: Partial<FindQuery>): void {
  replaceParams('find', toParams({ ...query, offset: 0, ...change }));
}
