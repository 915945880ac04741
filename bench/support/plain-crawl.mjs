// The minimal work of a first crawl: open, hash and verify every file, and insert the rows that a real crawl left in the database, row by row the
// same, one commit per catalog. The rows are copies from an earlier crawl.
import { createPublicKey, hash, verify } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { canonicalJson } from '../../dist/protocol/canonical-json.js';
import { addressOf } from './crawled-nodes.mjs';

const firstOfNode = (node) =>
  `(select min(key) from discovery.catalog join discovery.crawl_node on node = owner where crawl_node.id = ${node})`;
const firstOfHost = `(select min(key) from discovery.catalog join discovery.crawl_node on node = owner where host_id = row.id)`;
const ofTarget = `(select key from discovery.catalog where owner = row.node and catalog.id = catalog_id)`;
const ofEntry = `(select key from discovery.catalog join discovery.crawl_node on node = owner where crawl_node.id = node_id and catalog.id = catalog_id)`;

/**
 * The catalog that each row belongs to, by its key; rows of a node belong to its first catalog. Tables come after those that they reference. Rows of
 * other tables belong to no single catalog, and are spread evenly, in the order in which they were written.
 */
const owners = {
  crawl_host: firstOfHost,
  crawl_node: firstOfNode('row.id'),
  crawl_naming: firstOfNode('node_id'),
  crawl_index: firstOfNode('node_id'),
  crawl_entry: ofEntry,
  crawl_target: ofTarget,
  catalog: 'key',
  resource: 'key >> 26',
  offer: 'key >> 26',
  geometry: 'key >> 26',
};
/** Tables with settings, and tables that the service writes while the yardstick runs: live processes, and the compaction of lists. */
const settled = ['crawl_source', 'crawl_policy', 'presence', 'index_process', 'compaction'];
/** Number of nodes prepared at a time. */
const nodesAtOnce = 50;
const lanes = 4;

export async function emptyTables(database) {
  const names = await tablesOf(database, 'discovery');
  // Retries on a deadlock: statements of the service lock the tables in another order.
  await database.transaction((tx) =>
    tx.query(`truncate ${names.map((name) => `discovery.${name}`)} restart identity cascade`),
  );
}

/** Tables with known owners come first. */
async function tablesOf(database, schema) {
  const { rows } = await database.query('select tablename as name from pg_tables where schemaname = $1', [
    schema,
  ]);
  const there = rows.map(({ name }) => name).filter((name) => !settled.includes(name));
  const [known, others] = [Object.keys(owners), there.filter((name) => !(name in owners)).sort()];
  return [...known.filter((name) => there.includes(name)), ...others];
}

/** Copies the current rows, to insert them again. */
export async function keepRows(database) {
  await database.query('create schema if not exists kept');
  for (const name of await tablesOf(database, 'discovery')) {
    const { rows } = await database.query(`select exists (select from discovery.${name}) as holds`);
    if (!rows[0].holds) continue;
    await database.query(
      name in owners
        ? `create table kept.${name} as select ${owners[name]} as of_catalog, row.* from discovery.${name} as row`
        : `create table kept.${name} as select catalog.key as of_catalog, spread.* from (
             select ceil(row_number() over (order by ctid) * (select count(*) from discovery.catalog)::float8 / count(*) over ()) as place, row.*
             from discovery.${name} as row
           ) as spread join (select key, row_number() over (order by key) as place from discovery.catalog) as catalog using (place)`,
    );
    await database.query(`alter table kept.${name} drop column if exists place`);
    await database.query(`create index on kept.${name} (of_catalog)`);
  }
  await database.query('vacuum analyze');
}

/** Resources per second. Files and rows are prepared while the clock stands still. */
export async function crawlBarely(database, { nodes, catalogs, resources, port }) {
  const statements = await insertStatements(database);
  let elapsedMs = 0;
  for (let first = 0; first < nodes; first += nodesAtOnce) {
    const numbers = Array.from({ length: Math.min(nodesAtOnce, nodes - first) }, (_, index) => first + index);
    const ready = await Promise.all(numbers.map((number) => fetchNode(database, number, port)));
    const rows = await rowsOf(
      database,
      ready.flatMap(({ files }) => files.map(({ key }) => key)),
    );
    const begin = performance.now();
    const lane = async () => {
      for (let node = ready.pop(); node !== undefined; node = ready.pop())
        await crawlNode(database, node, statements, rows);
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    elapsedMs += performance.now() - begin;
  }
  return (nodes * catalogs * resources * 1000) / elapsedMs;
}

async function crawlNode(database, { documents, files, publicKey }, statements, rows) {
  for (const bytes of documents) {
    const { catalogs = [], ...document } = JSON.parse(bytes);
    check({ ...document, ...(catalogs.length > 0 && { catalogs }) }, publicKey);
    for (const entry of catalogs) check(entry, publicKey);
  }
  for (const { key, packed, digest } of files) {
    const bytes = gunzipSync(packed);
    if (`sha256:${hash('sha256', bytes, 'hex')}` !== digest) throw new Error('another digest');
    check(JSON.parse(bytes), publicKey);
    await database.transaction((tx) => writeRows(tx, statements, rows, key));
  }
}

/** A detached JWS over the canonical form without the signature. */
function check({ signature, proof, ...content }, publicKey) {
  const [header, , value] = (signature ?? proof.jws).split('.');
  const signed = Buffer.from(`${header}.${canonicalJson(content)}`);
  if (!verify(null, signed, publicKey, Buffer.from(value, 'base64url'))) throw new Error('not its signature');
}

async function writeRows(tx, statements, rows, key) {
  for (const [name, statement] of statements) {
    const columns = rows.get(name).get(key);
    if (columns) await tx.query(statement, columns);
  }
}

/** One statement for each table, which inserts many rows, column by column. */
async function insertStatements(database) {
  const statements = new Map();
  for (const name of await tablesOf(database, 'kept')) {
    const columns = await columnsOf(database, name);
    const typed = columns.map(({ column, type }) => `"${column}"::${type}`);
    const arrays = columns.map(({ sent }, index) => `$${index + 1}::${sent}[]`);
    const list = columns.map(({ column }) => `"${column}"`);
    statements.set(
      name,
      `insert into discovery.${name} (${list}) overriding system value select ${typed} from unnest(${arrays}) as row (${list})`,
    );
  }
  return statements;
}

/** Numbers travel as numbers, everything else as text. */
async function columnsOf(database, name) {
  const { rows } = await database.query(
    `select attname as column, format_type(atttypid, null) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and attgenerated = '' and not attisdropped order by attnum`,
    [`discovery.${name}`],
  );
  const numbers = ['bigint', 'integer', 'smallint', 'double precision'];
  return rows.map(({ column, type }) => ({ column, type, sent: numbers.includes(type) ? type : 'text' }));
}

/** By table and catalog: the columns of its rows, as array texts. */
async function rowsOf(database, keys) {
  const all = new Map();
  for (const name of await tablesOf(database, 'kept')) {
    const columns = await columnsOf(database, name);
    const arrays = columns.map(
      ({ column, sent }) => `array_agg("${column}"::${sent} order by ctid)::text as "${column}"`,
    );
    const { rows } = await database.query(
      `select of_catalog, ${arrays} from kept.${name} where of_catalog = any ($1) group by of_catalog`,
      [keys],
    );
    all.set(
      name,
      new Map(rows.map(({ of_catalog: key, ...texts }) => [key, columns.map(({ column }) => texts[column])])),
    );
  }
  return all;
}

/** Everything that a node hosts, as bytes, and the keys of the copied rows of its catalogs. */
async function fetchNode(database, number, port) {
  const manifest = await fetchBytes(`http://${addressOf(number, port)}/.well-known/dedi.index.json`);
  const {
    files: [{ url }],
    keys: [jwk],
  } = JSON.parse(manifest);
  const record = await fetchBytes(url);
  const index = await fetchBytes(JSON.parse(record).records[0].meta.catalog_index_urls[0].url);
  const { nodeId, catalogs } = JSON.parse(index);
  const { rows } = await database.query('select id, key from kept.catalog where owner = $1', [nodeId]);
  const keys = new Map(rows.map(({ id, key }) => [id, key]));
  const files = await Promise.all(
    catalogs.map(async ({ catalogId, baseline }) => {
      return { key: keys.get(catalogId), digest: baseline.digest, packed: await fetchBytes(baseline.url) };
    }),
  );
  files.sort((one, other) => one.key - other.key);
  return {
    documents: [manifest, record, index],
    files,
    publicKey: createPublicKey({ key: jwk, format: 'jwk' }),
  };
}

async function fetchBytes(url) {
  const response = await fetch(url);
  return Buffer.from(await response.arrayBuffer());
}
