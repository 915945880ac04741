import type { Config } from '../../config.ts';
import type { TextQuery } from '../../rules/text/rank.ts';
import type { Scope } from '../documents/scope.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import type { Hit } from '../hit.ts';
import type { Plan } from '../plan.ts';
import type { Tools } from '../tools.ts';
import { connectOpenSearch, type OpenSearch } from './client.ts';
import { findIndexedHits, hasPlace, readVersion } from './find.ts';
import { createSender, type Sender } from './send.ts';
import { createWordReader } from './word-index.ts';

// The index in OpenSearch, as the rest of the search engine sees it (ADR 22).

export interface IndexedSearch {
  /** Hits in the order of the answer, part by part, and how many more there are. */
  findHits(tools: Tools, plan: Plan): AsyncIterable<Hit[] | number>;
  /** The words of a text, with what they stand for. */
  readQuery(tools: Tools, plan: Plan): Promise<TextQuery>;
  /** Whether something that is searched has a geometry at one of these paths. */
  hasPlace(scope: Scope, paths: readonly string[]): Promise<boolean>;
  client: OpenSearch;
  sender: Sender;
  close(): Promise<void>;
}

/** Undefined: the index is in the database. */
export function openIndexedSearch(
  { config, now }: { config: Config; now: () => Date },
  format: IndexFormat,
): IndexedSearch | undefined {
  if (config.SEARCH_INDEX !== 'opensearch') return undefined;
  const client = connectOpenSearch(config);
  const readWords = createWordReader(client);
  const readQuery = async (tools: Tools, plan: Plan) => readWords(plan, await readVersion(tools));
  return {
    findHits: (tools, plan) => findIndexedHits({ client, readQuery }, tools, plan),
    readQuery,
    hasPlace: (scope, paths) => hasPlace(client, scope, paths),
    client,
    sender: createSender(client, format, now),
    close: () => client.close(),
  };
}
