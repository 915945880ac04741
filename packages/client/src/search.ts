import { actions } from '../../../src/protocol/actions.ts';
import type { ReceivedCatalog } from '../../../src/protocol/catalog.ts';
import { SearchAnswer, type SearchFilters } from '../../../src/protocol/search-messages.ts';
import { askCatalog, type CallOptions, type Core } from './core.ts';

export interface SearchOptions extends Omit<CallOptions, 'messageId'> {
  /** Number of catalogs per request (1 to 100, default 20). */
  pageSize?: number;
}

/** The matching catalogs of a catalog service, page by page (catalog spec: POST /catalog/search). Default type: MASTER. */
export async function* search(
  core: Core,
  filters: SearchFilters = {},
  { pageSize = 20, ...options }: SearchOptions = {},
): AsyncGenerator<ReceivedCatalog, void, void> {
  for (let offset = 0; ; ) {
    const message = { filters, limit: pageSize, offset };
    const answer = await askCatalog(core, { action: actions.search, message }, SearchAnswer, options);
    const { catalogs, pagination } = answer.message;
    yield* catalogs;
    offset += catalogs.length;
    if (catalogs.length === 0 || offset >= pagination.total) return;
  }
}
