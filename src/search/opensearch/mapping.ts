// The mapping of an index of OpenSearch: one document for each resource, under its key. A hit is a key, so no document keeps its source. All that a field leaves out of the resource
// widens what it finds: hashes, numbers that are cut short, boxes instead of shapes (adr/0013).

/** What is written of a resource. */
export interface IndexedResource {
  key: number;
  catalog: number;
  /** Those of its catalog; `everyNetwork` where it names none. */
  networks: string[];
  facts: string[];
  paths: string[];
  /** As texts: 64 bits are more than a number of JavaScript has. */
  numbers: string[];
  words: string[];
  /** Its words are not all known, or too many: every text finds it. */
  hasAnyWord: boolean;
  targets: string[];
  shapes: Shape[];
}

/** As OpenSearch reads it: longitude before latitude; of a box, the north-western and the south-eastern corner. */
export type Shape =
  | { type: 'point'; coordinates: [number, number] }
  | { type: 'envelope'; coordinates: [[number, number], [number, number]] };

export const everyNetwork = '*';

/** Hits of one request; more than are asked for at a time. */
const maxHits = 25_000;

const term = { type: 'keyword', doc_values: false } as const;

export const indexDefinition = {
  settings: {
    index: {
      // The follower refreshes the index before it moves the watermark.
      refresh_interval: '-1',
      max_result_window: maxHits,
      number_of_shards: 1,
      auto_expand_replicas: '0-1',
      // How long the version of a deleted document is known: a follower that was stopped in the middle of a request must not bring it back.
      gc_deletes: '1h',
    },
  },
  mappings: {
    dynamic: 'strict',
    _source: { enabled: false },
    properties: {
      key: { type: 'long' },
      catalog: { type: 'long', doc_values: false },
      networks: term,
      facts: term,
      paths: term,
      numbers: { type: 'long', doc_values: false },
      words: term,
      hasAnyWord: { type: 'boolean', doc_values: false },
      targets: term,
      shapes: { type: 'geo_shape', doc_values: false },
    },
  },
} as const;
