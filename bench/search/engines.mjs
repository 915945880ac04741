// The search service, OpenSearch and plain PostgreSQL with one interface: `ask` resolves to the page as parsed JSON, and to the total as far as it
// was counted. `serverPids` are the other processes that work for the engine.
import pg from 'pg';
import { Client } from 'undici';
import { readConfig } from '../../dist/config.js';
import { silentLogger } from '../../dist/logger.js';
import { createSearch } from '../../dist/search/port.js';
import { openDatabase } from '../../dist/storage/database.js';
import { createThreadPool } from '../../dist/thread-pool.js';

/**
 * As the discovery service uses it: changes are checked when the answer is stored. `settings` are environment variables; without `usedCaches`, all
 * caches are used.
 */
export async function openOurs({ databaseUrl, usedCaches }, settings = {}) {
  const logger = silentLogger();
  const config = readConfig({ ...process.env, ...settings });
  const database = await openDatabase({ url: databaseUrl, logger });
  const threads = createThreadPool({ size: 2, logger });
  const search = createSearch({ config, database, threads, usedCaches, now: () => new Date() });
  // Nothing changes meanwhile, so OpenSearch needs no feed.
  const upkeep = config.SEARCH_INDEX === 'opensearch' ? undefined : await search.start({ logger });
  return {
    async ask({ message }) {
      const { answer } = await search.search({ message, scope: {} }, { optimistic: true });
      const pages = JSON.parse(answer.catalogs).flatMap(({ resources, offers = [], ...catalog }) =>
        resources.map((resource) => ({ catalog, resource, offers })),
      );
      return { pages, total: answer.total };
    },
    async serverPids() {
      const { rows } = await database.query(
        'select pid from pg_stat_activity where datname = current_database()',
      );
      return rows.map(({ pid }) => pid);
    },
    async close() {
      await upkeep?.close();
      await search.close();
      await threads.close();
      await database.close();
    },
  };
}

/** Settings of the search service with its index in OpenSearch. */
export function fedSettings({ openSearchUrl }) {
  return { SEARCH_INDEX: 'opensearch', OPENSEARCH_URL: openSearchUrl, OPENSEARCH_PREFIX: indexes.fed };
}

/** The search service with its index in OpenSearch: the processes of both count. */
export async function openFed(job) {
  const ours = await openOurs(job, fedSettings(job));
  const openSearch = openOpenSearch(job, indexes.fed);
  return {
    ...ours,
    serverPids: async () => [...(await ours.serverPids()), ...(await openSearch.serverPids())],
    async close() {
      await ours.close();
      await openSearch.close();
    },
  };
}

/** As OpenSearch has the documents after loading, and merged into one segment; and our index in it. */
export const indexes = { loaded: 'bench', merged: 'bench-merged', fed: 'bench-fed' };

export function openOpenSearch({ openSearchUrl }, index) {
  const client = new Client(openSearchUrl);
  const headers = { 'content-type': 'application/json' };
  return {
    async serverPids() {
      const response = await client.request({ method: 'GET', path: '/_nodes/process' });
      const { nodes } = await response.body.json();
      return Object.values(nodes).map(({ process }) => process.id);
    },
    async ask({ body }) {
      const response = await client.request({
        method: 'POST',
        path: `/${index}/_search`,
        headers,
        body: JSON.stringify(body),
      });
      const answer = await response.body.json();
      if (response.statusCode !== 200 || answer.timed_out || answer._shards.failed > 0)
        throw new Error(
          `OpenSearch answered ${response.statusCode}: ${JSON.stringify(answer).slice(0, 500)}`,
        );
      const { total, hits } = answer.hits;
      return { pages: hits.map(({ _source }) => _source.page), total: total.value };
    },
    close: () => client.close(),
  };
}

export async function openPlain({ databaseUrl }) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const names = new Map();
  const nameOf = (text) => {
    if (!names.has(text)) names.set(text, `plain ${names.size}`);
    return names.get(text);
  };
  return {
    async ask({ sql: { text, values } }) {
      const { rows } = await client.query({ name: nameOf(text), text, values });
      return { pages: rows.map(({ page }) => JSON.parse(page)) };
    },
    async serverPids() {
      const { rows } = await client.query('select pg_backend_pid() as pid');
      return rows.map(({ pid }) => pid);
    },
    /** Neither part of the page nor measured. */
    async count({ sql: { count, values } }) {
      const { rows } = await client.query({ text: count, values });
      return rows[0].count;
    },
    close: () => client.end(),
  };
}
