// Publishing a catalog of 50,000 chargers as signed files, compared with bare gzip, SHA-256 and a synced write of the same bytes: a new baseline of a
// published catalog (compare, check what differs, hash, sign, pack, write), and a first publish (check everything, canonical form, hash, sign, pack,
// write). And a change of one resource, submitted whole and as a MERGE.
//
// The yardstick is the minimum of work: it starts with the bytes of the baseline in memory, packs them at the same level of gzip (the default of
// zlib), hashes them, and writes and syncs one file, each by one plain call. Ours starts with the parsed request and ends when content and index are
// synced and renamed. It may pack in threads, and need not pack the same bytes again. Garbage from making the request is collected before the clock
// starts, for both.
import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gunzipSync, gzipSync } from 'node:zlib';
import { publishCatalogs } from '../../dist/publisher/publish.js';
import { openPublisherTree } from '../../dist/publisher/tree.js';
import { createAttributeChecker } from '../../dist/rules/typed-attributes.js';
import { bundledSchemas, loadSchemas } from '../../dist/schemas/schema-files.js';
import { median, sideBySide } from '../measure.mjs';
import { chooseSizes, sizeFrom } from '../sizes.mjs';
import { generateCatalogs } from '../support/generate-catalogs.mjs';

const { resourceCount } = chooseSizes({
  whole: { resourceCount: sizeFrom('BENCH_RESOURCES', 50_000) },
  miniature: { resourceCount: 20 },
});

export async function run({ repeat }) {
  const directory = await mkdtemp(join(tmpdir(), 'signpost-bench-'));
  try {
    const tree = await openTree(directory);
    const submitted = makeCatalog();
    await publishWhole(tree, submitted);
    const bytes = await readBaseline(tree);
    const megabytes = bytes.length / 1e6;
    const yardstick = () => rate(megabytes, () => packAndWrite(directory, bytes));
    const republish = () => publishWhole(tree, altered(submitted), { forceBaseline: true });
    const again = await sideBySide({ repeat, ours: () => rate(megabytes, republish), yardstick });
    const publishFirst = async () =>
      publishWhole(await openTree(join(directory, randomUUID())), altered(submitted));
    const first = await sideBySide({ repeat, ours: () => rate(megabytes, publishFirst), yardstick });
    const whole = await times(repeat, () => publishWhole(tree, altered(submitted)));
    const merged = await times(repeat, () => publishOne(tree, altered(submitted)));
    const size = resourceCount.toLocaleString('en-US');
    return [
      baseline(`self-hosted publish, a new baseline of ${size} resources`, again),
      baseline(`self-hosted publish, the first of ${size} resources`, first),
      oneChange(`one of ${size} resources changed, submitted whole`, whole),
      oneChange(`one of ${size} resources changed, submitted as a MERGE`, merged),
    ];
  } finally {
    await rm(directory, { recursive: true });
  }
}

function baseline(scenario, { value, ratio }) {
  return { scenario, value, unit: 'MB/s', against: 'bare gzip, SHA-256 and write', ratio };
}

function oneChange(scenario, milliseconds) {
  return { scenario, value: milliseconds, unit: 'ms', against: 'one second', ratio: 1000 / milliseconds };
}

async function openTree(directory) {
  const checker = createAttributeChecker({ schemas: await loadSchemas(bundledSchemas) });
  const { privateKey } = generateKeyPairSync('ed25519');
  return openPublisherTree({
    directory,
    baseUrl: 'https://files.example.org',
    nodeId: 'example.org',
    registryName: 'subscribers.beckn.one',
    key: { subscriberId: 'example.org', recordId: 'key-1', privateKey },
    schemas: { checker: () => checker },
    // No baseline in between: a row measures one thing.
    limits: { compactionChanges: 1_000_000 },
    logger: { warn() {}, error: console.error },
  });
}

/** All resources of many stations in one catalog. */
function makeCatalog() {
  const stations = [...generateCatalogs({ resources: resourceCount })];
  const [{ id, descriptor, provider }] = stations;
  return { id, descriptor, provider, resources: stations.flatMap(({ resources }) => resources.map(sound)) };
}

/** The generator also makes values that a checked catalog cannot have. */
function sound(resource) {
  const { resourceAttributes: typed } = resource;
  const attributes = { ...typed.attributes };
  if (attributes.connectorType === 'GB/T') attributes.connectorType = 'GB_T';
  return { ...resource, resourceAttributes: { ...typed, attributes } };
}

let alterations = 0;

/** The same catalog, parsed from text as a trigger would do it, with one new version of a resource. */
function altered(catalog) {
  alterations += 1;
  const copy = JSON.parse(JSON.stringify(catalog));
  copy.resources[Math.floor(copy.resources.length / 2)].descriptor = {
    name: `altered ${alterations}`,
  };
  return copy;
}

async function publishWhole(tree, catalog, options) {
  return timed(() => publishCatalogs(tree, { message: { catalogs: [catalog] }, ...options }));
}

async function publishOne(tree, catalog) {
  const { resources, ...members } = catalog;
  const message = {
    catalogs: [{ ...members, resources: [resources[Math.floor(resources.length / 2)]] }],
    publishDirectives: [{ catalogId: catalog.id, catalogType: 'REGULAR', updateMode: 'MERGE' }],
  };
  return timed(() => publishCatalogs(tree, { message }));
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** Milliseconds of the publish only. */
async function timed(work) {
  collectGarbage();
  const begin = performance.now();
  const { results } = await work();
  const took = performance.now() - begin;
  if (results.some(({ status }) => status !== 'ACCEPTED'))
    throw new Error(JSON.stringify(results).slice(0, 1000));
  return took;
}

async function packAndWrite(directory, bytes) {
  collectGarbage();
  const begin = performance.now();
  const packed = gzipSync(bytes);
  const name = createHash('sha256').update(bytes).digest('hex');
  const file = await open(join(directory, name), 'w');
  await file.writeFile(packed);
  await file.sync();
  await file.close();
  return performance.now() - begin;
}

async function rate(megabytes, work) {
  return (megabytes * 1000) / (await work());
}

async function times(repeat, work) {
  const all = [];
  for (let round = 0; round < repeat; round += 1) all.push(await work());
  return median(all);
}

async function readBaseline(tree) {
  const names = await readdir(join(tree.root, 'catalogs'));
  const [name] = names.filter((file) => file.includes('.v1.'));
  const bytes = await readFile(join(tree.root, 'catalogs', name));
  return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}
