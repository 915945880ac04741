// Like inherited-bytes.mjs, in the signed files of crawled nodes: one has the templates, the other the resources that extend them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from '../../../dist/http/server.js';
import { silentLogger } from '../../../dist/logger.js';
import { createMetrics } from '../../../dist/metrics.js';
import { renewManifest } from '../../../dist/publisher/keep-manifest.js';
import { publishCatalogs } from '../../../dist/publisher/publish.js';
import { addFileRoutes } from '../../../dist/publisher/serve.js';
import { openPublisherTree } from '../../../dist/publisher/tree.js';
import { createAttributeChecker } from '../../../dist/rules/typed-attributes.js';
import { keyOf } from '../attack-tools.mjs';
import { extendingMessage, masterMessage } from '../inherited-bytes.mjs';
import { registryName } from '../scene.mjs';

const nodes = ['ivy.attack.test', 'oscar.attack.test'];

export const settings = {
  ...{ MASTER_PUBLISHERS: nodes[0], DISCOVERY_NODES: JSON.stringify(nodes) },
  ...{ CRAWL_INTERVAL_SECONDS: '1', CRAWL_MIN_INTERVAL_SECONDS: '1' },
};

export async function attack({ people, discoveryUrl, post, keepDoing, underWay, count }) {
  const directory = await mkdtemp(join(tmpdir(), 'signpost-attack-trees-'));
  const ivy = await host(people.ivy, join(directory, 'ivy'), masterMessage());
  const oscar = await host(people.oscar, join(directory, 'oscar'), extendingMessage(0, 0));
  oscar.onRequest((path) => {
    if (path.startsWith('/catalogs/')) underWay();
    count(`crawled ${path.split('/')[1]}`);
  });
  // The nodes did not answer until now, so the next crawl might be minutes away.
  for (const { id: nodeId } of [people.ivy, people.oscar])
    await post(`${discoveryUrl}/crawl-hints`, { body: Buffer.from(JSON.stringify({ nodeId })) });
  let sent = 0;
  const publish = () => oscar.publish(extendingMessage(++sent % 4, sent));
  await keepDoing(publish, { concurrency: 1, perSecond: 1 });
  await Promise.all([ivy.close(), oscar.close()]);
  await rm(directory, { recursive: true, force: true });
}

/** The files of a node, served at its address. */
async function host({ id: nodeId, seed, url }, directory, first) {
  const logger = silentLogger();
  const checker = createAttributeChecker({ schemas: [] });
  const tree = openPublisherTree({
    ...{ directory, baseUrl: url, nodeId, registryName, logger },
    ...{ key: keyOf({ id: nodeId, seed }), schemas: { checker: () => checker } },
  });
  const publish = async (message) => {
    await publishCatalogs(tree, { message });
    await renewManifest(tree, { url });
  };
  await publish(first);
  const metrics = createMetrics({ process: false });
  const files = createServer({ role: 'publisher', logger, metrics, ready: async () => ({}) });
  let listener = () => {};
  files.addHook('onRequest', async ({ url: path }) => listener(path));
  addFileRoutes(files, { root: tree.root });
  const { hostname, port } = new URL(url);
  await files.listen({ host: hostname, port: Number(port) });
  return {
    publish,
    onRequest: (other) => {
      listener = other;
    },
    close: () => files.close(),
  };
}
