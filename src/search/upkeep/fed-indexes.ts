import type { OpenSearch } from '../opensearch/client.ts';
import { mappings, maxResults, wordMappings, wordsOf } from '../opensearch/indexes.ts';

// The life of the indexes in OpenSearch: each generation of documents and dictionary is built under a new name.

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
