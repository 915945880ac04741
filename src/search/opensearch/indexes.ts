import { type OpenSearch, RefusedByOpenSearch } from './client.ts';

// The indexes of a generation, <prefix>-<n> with documents and <prefix>-<n>-words. Searches use the aliases <prefix> and <prefix>-words.
// The fields are fixed: paths that publishers choose are hashed into values, or into one of a few fields for places (document.ts).

/** Fields for the geometries of different paths. Two paths may share one, because the evaluator compares the document. */
export const placeSlots = 64;
/** The field for all paths together. */
export const anyPlace = 'any';

const term = { type: 'keyword', doc_values: false, norms: false };
/** Terms separated by spaces. */
const terms = { type: 'text', analyzer: 'whitespace', index_options: 'docs', norms: false };

export const mappings = {
  dynamic: 'strict',
  _source: { enabled: false },
  properties: {
    key: { type: 'long' },
    catalog: { type: 'long' },
    digest: { type: 'long', index: false },
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

export const wordMappings = {
  dynamic: 'strict',
  _source: { enabled: false },
  properties: { key: { type: 'keyword' }, length: { type: 'short' }, hashes: terms },
};

export function wordsOf(index: string): string {
  return `${index}-words`;
}

/** Maximum of hits of one request. */
export const maxResults = 20_000;

type BulkResult = { _id: string; status: number; error?: object };
type BulkAnswer = { errors: boolean; items: Record<string, BulkResult>[] };

/** Maximum of characters of one request with several documents. */
const maxBulkLength = 4_000_000;
/** The index has the same or a newer version. */
const conflict = 409;
/** The document itself is refused, or too long for a request. */
const [invalid, tooLong] = [400, 413];

/** Each item is an action, with its document as a second line. Higher versions stay. Returns why OpenSearch refuses documents: to repeat them would not help. */
export async function writeBulk(client: OpenSearch, index: string, items: readonly string[]) {
  const refused: string[] = [];
  const lengthOf = (at: number) => items[at]?.length ?? Number.POSITIVE_INFINITY;
  for (let [start, end] = [0, 0]; end < items.length; start = end) {
    for (let length = lengthOf(end++); length + lengthOf(end) < maxBulkLength; end++) length += lengthOf(end);
    const body = items.slice(start, end);
    const answer = await client.ask<BulkAnswer>(`/${index}/_bulk`, { body }).catch((error) => {
      if (error.status !== tooLong || body.length > 1) throw error;
      refused.push(`${body[0]?.slice(0, 100)}: ${error.message}`);
    });
    const results = answer?.errors ? answer.items.flatMap(Object.values) : [];
    for (const { _id, status, error } of results) {
      if (error === undefined || status === conflict) continue;
      if (status !== invalid) throw new RefusedByOpenSearch(status, JSON.stringify(error));
      refused.push(`${_id}: ${JSON.stringify(error)}`);
    }
  }
  return refused;
}
