import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@opensearch-project/opensearch';
import { isUnreachable, NewerVersionWritten, OpenSearchFailure, toFailure } from './failure.ts';
import { type IndexedResource, indexDefinition } from './mapping.ts';
import type { Clause } from './query.ts';

// What is asked of OpenSearch. Whatever fails is an OpenSearchFailure with one sentence that says why.

export interface OpenSearchClient {
  /** Keys in their order, and how many there are. */
  find(target: SearchTarget, asked: AskedKeys): Promise<FoundKeys>;
  openPointInTime(index: string): Promise<string>;
  closePointInTime(id: string): Promise<void>;
  /** Writes and deletes, all with one version; throws NewerVersionWritten where a document has a newer one. */
  write(index: string, version: number, changes: IndexChanges): Promise<void>;
  /** Searches find what was written; throws where a copy that may be asked does not show it yet. */
  refresh(index: string): Promise<void>;
  createIndex(index: string): Promise<void>;
  /** Whether there is one; throws where it is there, but does not answer. */
  exists(index: string): Promise<boolean>;
  /** Also where there is none. */
  deleteIndex(index: string): Promise<void>;
  moveAlias(alias: string, index: string): Promise<void>;
  /** Why it was not asked successfully, the last time that it was. */
  problem(): string | undefined;
  /** Whether it failed a moment ago: who can do without it does not wait for it again. */
  isResting(): boolean;
  close(): Promise<void>;
}

interface SearchTarget {
  index?: string;
  /** A point in time of one. */
  pointInTime?: string;
  timeoutMs: number;
}

interface AskedKeys {
  query: Clause;
  /** So many keys at most. */
  size: number;
  /** Counted up to so many; otherwise to the size. */
  countUpTo?: number;
  /** Only those that follow this one. */
  after?: number;
}

interface FoundKeys {
  keys: Float64Array;
  total: number;
}

export interface IndexChanges {
  written: readonly IndexedResource[];
  removed: readonly number[];
}

const requestTimeoutMs = 30_000;
/** Longer than from one look of the follower to the next: while that finds nobody, no search waits. */
const restMs = 3_000;
const lookTimeoutMs = 2_000;
/** One answer that is late says nothing about the next one. */
const failuresBeforeRest = 3;
const pointInTimeKept = '1m';
const bulkBytes = 4 * 2 ** 20;
/** The statuses of a document in a bulk request: there is a newer version of it; there was no room for it. */
const [conflict, tooMany] = [409, 429];
/** While OpenSearch has too much to do. */
const firstPauseMs = 100;
const longestPauseMs = 5_000;
const maxAttempts = 10;

export function createClient(nodes: readonly string[]): OpenSearchClient {
  let opened: Promise<Client> | undefined;
  let problem: string | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let failures = 0;

  // It takes a moment to load: only where it is used.
  const open = async () => {
    const { Client: ClientClass } = await import('@opensearch-project/opensearch');
    return new ClientClass({
      nodes: [...nodes],
      requestTimeout: requestTimeoutMs,
      maxRetries: nodes.length - 1,
    });
  };

  async function ask<T>(work: (client: Client) => Promise<{ body: unknown }>): Promise<T> {
    opened ??= open();
    try {
      const { body } = await work(await opened);
      [problem, failures] = [undefined, 0];
      return body as T;
    } catch (error) {
      const failure = toFailure(error);
      if (failure.refusal) throw failure;
      problem = failure.message;
      failedAt = performance.now();
      failures = isUnreachable(error) ? failuresBeforeRest : failures + 1;
      throw failure;
    }
  }

  async function send(index: string, operations: readonly object[]): Promise<BulkItem[]> {
    const answer = await ask<{ errors: boolean; items: Record<string, BulkItem>[] }>((client) =>
      // An index that was lost must not come about by being written, with a mapping of its own.
      client.bulk({ index: writeAlias(index), require_alias: true, body: operations } as never),
    );
    return answer.errors ? answer.items.flatMap((item) => Object.values(item)) : [];
  }

  /** Those that OpenSearch had no room for are sent again, later and later. */
  async function sendAll(index: string, operations: readonly Operation[]): Promise<void> {
    let left = operations;
    for (let attempt = 0, pauseMs = firstPauseMs; left.length > 0; attempt++) {
      const items = await send(
        index,
        left.flatMap(({ action, document }) => (document ? [action, document] : [action])),
      );
      const failed = items.find(
        ({ status, error }) => error !== undefined && ![conflict, tooMany].includes(status),
      );
      if (failed) throw new OpenSearchFailure(`a document was refused: ${JSON.stringify(failed.error)}`);
      if (items.some(({ status }) => status === conflict)) throw new NewerVersionWritten();
      left = left.filter((_, at) => items[at]?.status === tooMany);
      if (left.length === 0) return;
      if (attempt === maxAttempts) throw new OpenSearchFailure('it has had too much to do for a while');
      await delay(pauseMs);
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
  }

  const find: OpenSearchClient['find'] = async (
    { index, pointInTime, timeoutMs },
    { query, size, countUpTo = size, after },
  ) => {
    const { hits, timed_out, _shards } = await ask<SearchAnswer>((client) =>
      client.search(
        {
          ...(index !== undefined && { index }),
          filter_path: ['timed_out', '_shards.failed', 'hits.total.value', 'hits.hits.sort'],
          body: {
            query,
            size,
            sort: [{ key: 'asc' }],
            track_total_hits: countUpTo,
            _source: false,
            stored_fields: '_none_',
            ...(pointInTime !== undefined && { pit: { id: pointInTime, keep_alive: pointInTimeKept } }),
            ...(after !== undefined && { search_after: [after] }),
          },
        } as never,
        { requestTimeout: timeoutMs },
      ),
    );
    // Half an answer would lack resources.
    if (timed_out || _shards.failed > 0) throw new OpenSearchFailure('a part of the index did not answer');
    const keys = Float64Array.from(hits?.hits ?? [], ({ sort: [key] }) => key);
    return { keys, total: hits?.total?.value ?? keys.length };
  };

  /** By a search: an index whose shards are lost is still named, but finds nothing. */
  const exists = async (index: string) => {
    try {
      await find({ index, timeoutMs: lookTimeoutMs }, { query: { match_all: {} }, size: 1 });
      return true;
    } catch (error) {
      if ((error as OpenSearchFailure).refusal === 'not found') return false;
      throw error;
    }
  };

  return {
    problem: () => problem,
    exists,
    isResting: () => failures >= failuresBeforeRest && performance.now() - failedAt < restMs,
    find,

    async openPointInTime(index) {
      const { pit_id: id } = await ask<{ pit_id: string }>((client) =>
        client.createPit({ index, keep_alive: pointInTimeKept } as never),
      );
      return id;
    },

    async closePointInTime(id) {
      await ask((client) => client.deletePit({ body: { pit_id: [id] } } as never));
    },

    async write(index, version, { written, removed }) {
      const meta = (key: number) => ({ _id: String(key), version, version_type: 'external_gte' });
      const operations: Operation[] = [
        ...written.map((document) => ({ action: { index: meta(document.key) }, document })),
        ...removed.map((key) => ({ action: { delete: meta(key) } })),
      ];
      for (const part of divide(operations)) await sendAll(index, part);
    },

    async refresh(index) {
      const { _shards } = await ask<RefreshAnswer>((client) => client.indices.refresh({ index }));
      // A copy that is not there counts neither as successful nor as failed.
      if (_shards.failed > 0 || _shards.successful === 0)
        throw new OpenSearchFailure('a part of the index could not be refreshed');
    },

    async createIndex(index) {
      if (await exists(index)) return;
      const body = { ...indexDefinition, aliases: { [writeAlias(index)]: {} } };
      await ask((client) => client.indices.create({ index, body } as never));
    },

    async deleteIndex(index) {
      await ask((client) => client.indices.delete({ index, ignore_unavailable: true }));
    },

    async moveAlias(alias, index) {
      const actions = [{ remove: { index: '*', alias, must_exist: false } }, { add: { index, alias } }];
      await ask((client) => client.indices.updateAliases({ body: { actions } } as never));
    },

    async close() {
      await (await opened)?.close();
    },
  };
}

function writeAlias(index: string): string {
  return `${index}-write`;
}

interface SearchAnswer {
  timed_out: boolean;
  _shards: { failed: number };
  hits?: { total?: { value: number }; hits?: { sort: [number] }[] };
}

interface RefreshAnswer {
  /** There is one shard, and its copies. */
  _shards: { successful: number; failed: number };
}

interface BulkItem {
  status: number;
  error?: unknown;
}

interface Operation {
  action: object;
  document?: IndexedResource;
}

/** So many at a time that a request is not too large: at least one. */
function* divide(operations: readonly Operation[]): Generator<Operation[]> {
  let [part, bytes]: [Operation[], number] = [[], 0];
  for (const operation of operations) {
    const size = sizeOf(operation);
    if (part.length > 0 && bytes + size > bulkBytes) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(operation);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** About: terms have some ten characters. */
function sizeOf({ document }: Operation): number {
  if (document === undefined) return 100;
  const { facts, paths, numbers, words, targets, shapes } = document;
  return (
    300 +
    13 * (facts.length + paths.length + words.length + targets.length) +
    22 * numbers.length +
    80 * shapes.length
  );
}
