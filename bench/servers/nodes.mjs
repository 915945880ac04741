// Provider Nodes that host signed files, each at a separate loopback address, and the registry that knows them, in one process. argv is {nodes,
// catalogs, resources}: the number of nodes, of catalogs per node, of resources per catalog. Reports its port; the network has members only after the
// message "open".
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { canonicalJson } from '../../dist/protocol/canonical-json.js';
import { sha256Digest } from '../../dist/protocol/digest.js';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../dist/protocol/keys.js';
import { signDocument } from '../../dist/protocol/signed-document.js';
import { buildManifest, buildSubscriberRecord } from '../../dist/publisher/manifest.js';
import { addressOf, identityOf, network, registryName } from '../support/crawled-nodes.mjs';
import { generateCatalogs } from '../support/generate-catalogs.mjs';

const { nodes, catalogs, resources } = JSON.parse(process.argv[2]);
const dayMs = 86_400_000;
const recordsPerPage = 1_000;
const [now, nextUpdate] = [new Date(), new Date(Date.now() + dayMs)];

/** By address and path: {body, etag, type}. */
const files = new Map();
/** The registry's records, in the order of the nodes. */
const records = [];
let isOpen = false;

const server = createServer(answer);
server.keepAliveTimeout = 60_000;
await new Promise((resolve) => server.listen(0, '0.0.0.0', resolve));
const { port } = server.address();

const content = generateCatalogs({ resources: nodes * catalogs * resources, resourcesPerCatalog: resources });
for (let number = 0; number < nodes; number += 1) host(number);

process.on('message', (message) => {
  isOpen = message === 'open';
  process.send('done');
});
process.once('disconnect', () => process.exit());
process.send(port);

function host(number) {
  const address = addressOf(number, port);
  const [url, id] = [`http://${address}`, identityOf(number)];
  const key = {
    subscriberId: `${id}/${registryName}`,
    recordId: 'key-1',
    privateKey: privateKeyFromSeed(generateSeed()),
  };
  const put = (path, body) => files.set(`${address}/${path}`, { body, etag: `"${sha256Digest(body)}"` });

  const entries = Array.from({ length: catalogs }, (_, index) => {
    const catalog = content.next().value;
    const baseline = { catalogId: catalog.id, version: 1, next_update: nextUpdate.toISOString(), catalog };
    const bytes = render(signDocument(baseline, key, 'spec'));
    const [path, packed] = [`catalogs/${index}.v1.json.gz`, gzipSync(bytes)];
    put(path, packed);
    const reference = { version: 1, url: `${url}/${path}`, size: packed.length, digest: sha256Digest(bytes) };
    return signDocument(
      {
        ...{ catalogId: catalog.id, entryVersion: 1, catalogType: 'REGULAR', networkIds: [network] },
        ...{ isActive: true, baseline: reference, changes: [] },
      },
      key,
      'spec',
    );
  });
  const index = { nodeId: key.subscriberId, next_update: nextUpdate.toISOString(), catalogs: entries };
  put('index/catalogs.index.json', render(signDocument(index, key, 'spec')));

  const node = { id, registryName, url, baseUrl: url, key, formerKeys: [], profile: 'spec' };
  const described = { ...node, indexUrls: [`${url}/index/catalogs.index.json`] };
  const record = buildSubscriberRecord(described, { now, nextUpdate });
  put(record.path, record.bytes);
  put('.well-known/dedi.index.json', buildManifest(described, record, { now, nextUpdate }));
  records.push(registered({ id, url, key }));
}

function render(document) {
  return Buffer.from(canonicalJson(document));
}

function registered({ id, url, key }) {
  return {
    record_id: key.recordId,
    details: { subscriber_id: id, url, type: 'BPP', signing_public_key: publicKeyOf(key.privateKey) },
    ...{ meta: {}, network_memberships: [network], state: 'live', ttl: 300 },
    ...{ created_at: now.toISOString(), updated_at: now.toISOString() },
  };
}

function answer({ url, headers }, response) {
  const file = files.get(headers.host + url);
  if (file === undefined) return answerAsRegistry(url, response);
  const { body, etag } = file;
  if (headers['if-none-match'] === etag) {
    // Polls of one index are minutes apart: no connection is kept for so long.
    response.writeHead(304, { etag, connection: 'close' });
    return response.end();
  }
  const type = url.endsWith('.gz') ? 'application/gzip' : 'application/json';
  response.writeHead(200, { 'content-type': type, 'content-length': body.length, etag });
  response.end(body);
}

/** Answers lookups of a key, queries of a participant, and pages of the network's members. */
function answerAsRegistry(url, response) {
  const { pathname, searchParams } = new URL(url, 'http://registry');
  const [, question, namespace, name] = pathname.split('/').map(decodeURIComponent);
  const known = records[/^node-(\d+)\.bench$/.exec(namespace)?.[1] ?? -1];
  if (question === 'lookup' && known) return send(known);
  if (question === 'query' && known) return send({ records: [known] });
  if (question === 'query' && `${namespace}/${name}` === network && isOpen) {
    const page = Number(searchParams.get('page') ?? 1);
    return send({
      records: records.slice((page - 1) * recordsPerPage, page * recordsPerPage),
      total_pages: Math.ceil(records.length / recordsPerPage),
    });
  }
  response.writeHead(404);
  response.end();

  function send(data) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: 'found', data }));
  }
}
