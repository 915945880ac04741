// The same documents in OpenSearch, queried in the three ways that most people would try first.
import { textsOf } from './collections.mjs';

const index = 'relevance';
const rowsAtOnce = 2_000;
const text = {
  type: 'text',
  analyzer: 'english',
  fields: { standard: { type: 'text', analyzer: 'standard' } },
};

export const baselines = {
  'English analyzer, one field': (query) => ({ match: { all: query } }),
  'best fields, name boosted': (query) => ({
    multi_match: { query, type: 'best_fields', fields: ['name^3', 'description', 'attributes'] },
  }),
  'standard analyzer, fuzziness': (query) => ({ match: { 'all.standard': { query, fuzziness: 'AUTO' } } }),
};
export const fuzzy = 'standard analyzer, fuzziness';

/** Resolves to a function that returns the ids of the hits. */
export async function fillOpenSearch(url, products) {
  const send = async (method, path, body, type = 'application/json') => {
    const response = await fetch(`${url}${path}`, { method, body, headers: { 'content-type': type } });
    const answer = await response.json();
    if (!response.ok)
      throw new Error(`OpenSearch answered ${response.status}: ${JSON.stringify(answer).slice(0, 500)}`);
    return answer;
  };
  const mappings = { properties: { all: text, name: text, description: text, attributes: text } };
  const settings = { number_of_shards: 1, number_of_replicas: 0 };
  await fetch(`${url}/${index}`, { method: 'DELETE' });
  await send('PUT', `/${index}`, JSON.stringify({ settings, mappings }));
  for (let from = 0; from < products.length; from += rowsAtOnce) {
    const lines = products.slice(from, from + rowsAtOnce).flatMap((product) => {
      const texts = textsOf(product);
      const document = { ...texts, all: Object.values(texts).join('\n') };
      return [JSON.stringify({ index: { _id: product.id } }), JSON.stringify(document)];
    });
    await send('POST', `/${index}/_bulk`, `${lines.join('\n')}\n`, 'application/x-ndjson');
  }
  await send('POST', `/${index}/_forcemerge?max_num_segments=1`);
  await send('POST', `/${index}/_refresh`);
  return async (name, query, size) => {
    const body = JSON.stringify({ size, _source: false, query: baselines[name](query) });
    const { hits } = await send('POST', `/${index}/_search`, body);
    return hits.hits.map(({ _id }) => _id);
  };
}
