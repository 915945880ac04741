import { type OpenSearch, RefusedByOpenSearch } from './client.ts';

// The indexes of a generation, <prefix>-<n> with documents and <prefix>-<n>-words. Searches use the aliases <prefix> and <prefix>-words.
// The fields are fixed: paths that publishers choose are hashed into values, or into one of a few fields for places (document.ts).

/** Fields for the geometries of different paths. Two paths may share one, because the evaluator compares the document. */
export const placeSlots = 16;
/** The field for all paths together. */
export const anyPlace = 'any';

const term = { type: 'keyword', doc_values: false, norms: false };
/** Terms separated by spaces. */
const terms = { type: 'text', analyzer: 'whitespace', index_options: 'docs', norms: false };
const stored = { type: 'long', doc_values: true };

const mappings = {
  dynamic: 'strict',
  _source: { enabled: false },
  properties: {
    key: stored,
    catalog: { type: 'long' },
    digest: { ...stored, index: false },
    until: { type: 'long', doc_values: false },
    live: { type: 'boolean', doc_values: false },
    networks: term,
    schemas: term,
    facts: terms,
    numbers: { type: 'ip' },
    words: { type: 'rank_features' },
    own: terms,
    ...Object.fromEntries(
      [...Array(placeSlots).keys(), anyPlace].flatMap((slot) => [
        [`at_${slot}`, { type: 'geo_point' }],
        [`area_${slot}`, { type: 'geo_shape', doc_values: false }],
        [`wide_${slot}`, { type: 'byte', index: false }],
      ]),
    ),
  },
};

const wordMappings = {
  dynamic: 'strict',
  _source: { enabled: false },
  properties: { key: { type: 'keyword' }, length: { type: 'short' }, hashes: terms },
};

export function wordsOf(index: string): string {
  return `${index}-words`;
}

export async function listIndexes(client: OpenSearch): Promise<string[]> {
  return Object.keys(await client.ask<object>(`/${client.prefix}-*`, { method: 'GET' }));
}

/** Creates the indexes under a new name and returns it. Processes know which words an index has, so names of former ones are not used again. */
export async function createIndexes(client: OpenSearch, former: readonly string[]): Promise<string> {
  const known = [...(await listIndexes(client)), ...former];
  const numbers = known.flatMap((name) => Number(name.slice(client.prefix.length + 1)) || []);
  const index = `${client.prefix}-${Math.max(0, ...numbers) + 1}`;
  const settings = {
    number_of_shards: client.shards,
    // One replica if there is a second node for it.
    auto_expand_replicas: '0-1',
    // A refresh after each round makes it visible.
    refresh_interval: '-1',
    max_result_window: maxResults,
  };
  const sorted = { 'sort.field': 'key', 'sort.order': 'asc' };
  await client.ask(`/${index}`, { method: 'PUT', body: { settings: { ...settings, ...sorted }, mappings } });
  await client.ask(`/${wordsOf(index)}`, { method: 'PUT', body: { settings, mappings: wordMappings } });
  return index;
}

/** Maximum of hits of one request. */
export const maxResults = 20_000;

/** Switches searches to an index, in one step, and deletes the others. */
export async function switchIndex(client: OpenSearch, index: string): Promise<void> {
  const { prefix } = client;
  const known = await listIndexes(client);
  const isOurs = (name: string) => /^\d+(-words)?$/.test(name.slice(prefix.length + 1));
  const others = known.filter((name) => isOurs(name) && name !== index && name !== wordsOf(index));
  const actions = [
    ...others.map((name) => ({ remove_index: { index: name } })),
    { add: { index, alias: prefix } },
    { add: { index: wordsOf(index), alias: wordsOf(prefix) } },
  ];
  await client.ask('/_aliases', { body: { actions } });
}

/** Throws if a shard could not refresh. */
export async function refresh(client: OpenSearch, indexes: readonly string[]): Promise<void> {
  const names = indexes.flatMap((index) => [index, wordsOf(index)]);
  const { _shards } = await client.ask<{ _shards: { failed: number } }>(`/${names}/_refresh`);
  if (_shards.failed > 0) throw new Error(`${_shards.failed} shards of OpenSearch were not refreshed`);
}

type BulkAnswer = { errors: boolean; items: Record<string, { status: number; error?: object }>[] };

/** Approximate maximum of characters of one request. */
const maxBulkLength = 4_000_000;
/** The index has the same or a newer version. */
const conflict = 409;

/** Writes in bulk: each item is an action, followed by a line with the document if there is one. Existing higher versions stay. */
export async function writeBulk(client: OpenSearch, index: string, items: readonly string[]) {
  for (let [start, end] = [0, 0]; end < items.length; start = end) {
    for (let length = 0; end < items.length && length < maxBulkLength; end++)
      length += items[end]?.length ?? 0;
    const answer = await client.ask<BulkAnswer>(`/${index}/_bulk`, { body: items.slice(start, end) });
    const results = answer.errors ? answer.items.flatMap(Object.values) : [];
    const failed = results.find(({ status, error }) => error !== undefined && status !== conflict);
    if (failed) throw new RefusedByOpenSearch(failed.status, JSON.stringify(failed.error));
  }
}
