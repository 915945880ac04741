import { replaceParams } from '../../router.ts';
import { type FindQuery, toParams } from './query.ts';

/** Every change but that of the page begins at the first page again. */
export function changeQuery(query: FindQuery, change: Partial<FindQuery>): void {
  replaceParams('find', toParams({ ...query, offset: 0, ...change }));
}
