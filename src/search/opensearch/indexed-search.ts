import type { Config } from '../../config.ts';
import type { Logger } from '../../logger.ts';
import type { Scope } from '../documents/scope.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import type { Plan } from '../plan.ts';
import type { Tools } from '../tools.ts';
import { connectOpenSearch, withinTime } from './client.ts';
import { type FindOptions, findIndexedHits, hasPlace, readVersion } from './find.ts';
import { createSender } from './send.ts';
import { createWordReader } from './word-index.ts';

// The index in OpenSearch, as the other parts of the search engine see it (ADR 22).

export type IndexedSearch = NonNullable<ReturnType<typeof openIndexedSearch>>;

type IndexedContext = { config: Config; now: () => Date; logger?: Logger };

/** Undefined if the index is in the database. */
export function openIndexedSearch(context: IndexedContext, format: IndexFormat) {
  const { config } = context;
  if (config.SEARCH_INDEX !== 'opensearch') return undefined;
  const client = connectOpenSearch(config);
  const readWords = createWordReader();
  const clientOf = ({ deadline }: Pick<Tools, 'deadline'>) => withinTime(client, deadline);
  const readQuery = (tools: Tools, plan: Plan) => readWords(clientOf(tools), plan, readVersion(tools));
  return {
    findHits: (tools: Tools, plan: Plan, options: FindOptions) =>
      findIndexedHits({ client: clientOf(tools), readQuery }, tools, plan, options),
    readQuery,
    /** Whether a searched document has a geometry at one of these paths. */
    hasPlace: (tools: Pick<Tools, 'deadline'>, scope: Scope, paths: readonly string[]) =>
      hasPlace(clientOf(tools), scope, paths),
    client,
    sender: createSender(client, format, context),
    close: () => client.close(),
  };
}
