// Fills the three engines with the same resources, one after another, and reports the speed and size of each.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { readConfig } from '../../dist/config.js';
import { maintainIndex, writeIndex } from '../../dist/search/port.js';
import { fedSettings, indexes, openOurs } from './engines.mjs';

/** Catalogs name their publisher: otherwise a push would count as the service's own and replace the whole catalog. */
export const provider = 'provider.bench';
export const pusher = 'pusher';
export const networkId = 'bench.org/discover';
const rowsAtOnce = 2_000;
/** As src/discovery/apply-pulled.ts does. */
const groupsAtOnce = 2;

/**
 * Through the only entry point of the index, two transactions at a time, as the discovery service applies pulls. Keeps some catalogs, evenly spread,
 * for questions.
 */
export async function seedOurs(database, data, { resources, samples }) {
  const every = Math.max(1, Math.floor(resources / data.resourcesPerCatalog / samples));
  const kept = [];
  let count = 0;
  const taken = await seconds(async () => {
    const underWay = new Set();
    for await (const batch of batches(published(data, resources), data.catalogsAtOnce)) {
      if (underWay.size === groupsAtOnce) await Promise.race(underWay);
      const writing = writeCatalogs(database, batch, 'FULL').finally(() => underWay.delete(writing));
      underWay.add(writing);
      for (const catalog of batch) if (count++ % every === 0) kept.push(data.keep(catalog));
    }
    await Promise.all(underWay);
  });
  await database.query('vacuum analyze');
  return { kept, perSecond: resources / taken, bytes: await bytesOf(database, '^(discovery|index_.*)$') };
}

/** Lets the service compact the lists after the load, as it does in the background; returns the seconds that it took. */
export function compact(database, databaseUrl) {
  return seconds(async () => {
    const { rows } = await database.query('select last_value from discovery.run_number');
    const newest = Number(rows[0].last_value);
    const ours = await openOurs({ databaseUrl });
    for (let upTo = 0; upTo < newest; await sleep(500)) {
      const walk = await database.query('select walked_up_to from index_1.compaction');
      upTo = Number(walk.rows[0].walked_up_to);
    }
    await ours.close();
    await database.query('vacuum analyze');
  });
}

/** In one transaction. */
export async function writeCatalogs(database, catalogs, mode) {
  const incoming = catalogs.map((catalog) => ({
    source: `service:${pusher}.bench/subscribers.beckn.one`,
    owner: `${provider}/subscribers.beckn.one`,
    type: 'REGULAR',
    networks: [networkId],
    mode,
    catalog,
  }));
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply(incoming)));
}

/** A table with the indexes that somebody would make who knows the questions beforehand. */
export async function seedPlain(database, data, { resources }) {
  const { table, columns, indexes } = data.plain;
  const names = Object.keys(columns);
  for (const extension of ['cube', 'pg_trgm', 'fuzzystrmatch'])
    await database.query(`create extension if not exists ${extension}`);
  await database.query('create schema plain');
  const declared = names.map((name) => `, ${name} ${columns[name]}`).join('');
  await database.query(
    `create table ${table} (id text, page text, words tsvector${declared}) with (autovacuum_enabled = false)`,
  );
  await database.query(`create table ${table}_word (word text primary key)`);
  const known = new Set();
  const taken = await seconds(async () => {
    for await (const rows of batches(rowsOf(data, resources), rowsAtOnce)) {
      for (const { words } of rows)
        for (const word of words.toLowerCase().match(/\p{L}{3,}/gu) ?? []) known.add(word);
      const column = (name) => rows.map((row) => row[name] ?? null);
      await database.query(
        `insert into ${table} (id, page, words${names.map((name) => `, ${name}`).join('')})
         select id, page, to_tsvector('simple', words)${names.map((name) => `, ${name}::${columns[name]}`).join('')}
         from unnest($1::text[], $2::text[], $3::text[]${names.map((_, index) => `, $${index + 4}::text[]`).join('')})
           as row (id, page, words${names.map((name) => `, ${name}`).join('')})`,
        [column('id'), rows.map(({ page }) => JSON.stringify(page)), column('words'), ...names.map(column)],
      );
    }
    await database.query(`insert into ${table}_word select unnest($1::text[])`, [[...known]]);
    await database.query(`create index on ${table}_word using gin (word gin_trgm_ops)`);
    for (const columns of indexes) await database.query(`create index on ${table} ${columns}`);
  });
  await database.query(`vacuum (freeze, analyze) ${table}`);
  await database.query(`vacuum (freeze, analyze) ${table}_word`);
  return { perSecond: resources / taken, bytes: await bytesOf(database, '^plain$') };
}

/** One shard without replicas, then a clone of it merged into one segment. Only the page is kept as the document. */
export async function seedOpenSearch(url, data, { resources }) {
  const client = new Client(url, { headersTimeout: 0, bodyTimeout: 0 });
  const send = async (method, path, body, type = 'application/json') => {
    const headers = body && { 'content-type': type };
    const response = await client.request({ method, path, headers, body });
    const answer = await response.body.json();
    if (response.statusCode !== 200 || answer.errors)
      throw new Error(`OpenSearch answered ${path}: ${JSON.stringify(answer).slice(0, 1_000)}`);
    return answer;
  };
  try {
    const properties = {
      ...data.mapping,
      words: { type: 'text' },
      page: { type: 'object', enabled: false },
    };
    await send(
      'PUT',
      `/${indexes.loaded}`,
      JSON.stringify({
        settings: { number_of_shards: 1, number_of_replicas: 0, refresh_interval: '-1' },
        mappings: { dynamic: false, _source: { includes: ['page'] }, properties },
      }),
    );
    const taken = await seconds(async () => {
      for await (const rows of batches(rowsOf(data, resources), rowsAtOnce)) {
        const lines = rows.flatMap(({ id, place: _, ...row }) => [
          JSON.stringify({ index: { _id: id } }),
          JSON.stringify(row),
        ]);
        await send('POST', `/${indexes.loaded}/_bulk`, `${lines.join('\n')}\n`, 'application/x-ndjson');
      }
      await send('POST', `/${indexes.loaded}/_refresh`);
    });
    await send('POST', `/${indexes.loaded}/_flush`);
    await send('PUT', `/${indexes.loaded}/_settings`, JSON.stringify({ 'index.blocks.write': true }));
    await send('PUT', `/${indexes.loaded}/_clone/${indexes.merged}?wait_for_active_shards=1`);
    await send('POST', `/${indexes.merged}/_forcemerge?max_num_segments=1&flush=true`);
    await send('POST', `/${indexes.merged}/_refresh`);
    const { indices } = await send('GET', `/${indexes.merged}/_stats/store,docs`);
    const { store, docs } = indices[indexes.merged].primaries;
    if (docs.count !== resources) throw new Error(`OpenSearch has ${docs.count} of ${resources} resources`);
    return { perSecond: resources / taken, bytes: store.size_in_bytes };
  } finally {
    await client.close();
  }
}

/** Our index in OpenSearch, from the documents in the database. */
export async function seedFed(database, openSearchUrl, { resources }) {
  const config = readConfig({ ...process.env, ...fedSettings({ openSearchUrl }) });
  const index = maintainIndex(database, undefined, config);
  try {
    const taken = await seconds(() => index.rebuild());
    const client = new Client(openSearchUrl);
    await client
      .request({ method: 'POST', path: `/${indexes.fed}-*/_flush` })
      .then(({ body }) => body.dump());
    const { body } = await client.request({ method: 'GET', path: `/${indexes.fed}-*/_stats/store` });
    const { _all } = await body.json();
    await client.close();
    return { perSecond: resources / taken, bytes: _all.primaries.store.size_in_bytes };
  } finally {
    await index.close();
  }
}

async function* published(data, resources) {
  for await (const catalog of data.catalogs({ resources })) yield { ...catalog, bppId: provider };
}

async function* rowsOf(data, resources) {
  for await (const catalog of published(data, resources)) yield* data.rowsOf(catalog);
}

async function* batches(items, size) {
  let batch = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function seconds(work) {
  const begin = performance.now();
  await work();
  return (performance.now() - begin) / 1000;
}

async function bytesOf(database, schema) {
  const { rows } = await database.query(
    `select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class where relnamespace::regnamespace::text ~ $1 and relkind = 'r'`,
    [schema],
  );
  return rows[0].bytes;
}
