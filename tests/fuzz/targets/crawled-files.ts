import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { identityOf, splitIdentity } from '../../../src/protocol/identity.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../../src/protocol/keys.ts';
import { readLog } from '../../../src/storage/crawl/log.ts';
import { registerParticipant, removeMembership } from '../../../src/storage/registry/participants.ts';
import { crawl } from '../../support/hosted/crawl.ts';
import { sampleCatalog } from '../../support/hosted/hosted-documents.ts';
import { held } from '../../support/network/discovery.ts';
import { buildTree, type HostedTree, hostedKinds, type TreeCase } from '../hosted-tree.ts';
import { bytesSometimes } from '../mutate-bytes.ts';
import { mutations } from '../mutate-json.ts';
import { network, registryName } from '../participants.ts';
import type { Scene } from '../scene.ts';
import { accepted, Fault, type Target } from '../target.ts';

// Published files that the crawler fetches: a node for each case, with one file changed before it was signed or on its way.

export const treeCases: fc.Arbitrary<TreeCase> = fc.record({
  kind: fc.constantFrom(...hostedKinds),
  before: fc.oneof({ weight: 2, arbitrary: mutations }, { weight: 1, arbitrary: fc.constant([]) }),
  after: bytesSometimes(1),
  gzip: fc.boolean(),
});

export const crawledFiles: Target<TreeCase> = {
  name: 'published files, crawled',
  weight: 2,
  concurrency: 40,
  cases: treeCases,
  run: runCrawl,
};

async function runCrawl(scene: Scene, one: TreeCase, caseId: string): Promise<string> {
  const { database } = scene;
  const hosts = await hostsOf(scene);
  const id = `${caseId}.node.test`;
  const identity = identityOf(id, registryName);
  const base = hosts.newAddress();
  const key = { subscriberId: identity, recordId: 'key-1', privateKey: privateKeyFromSeed(generateSeed()) };
  const tree = buildTree({ ...{ id, identity, key, base }, networkIds: [network] }, one, caseId);
  hosts.serve(tree);
  const subscriber = splitIdentity(identity);
  await registerParticipant(database, {
    ...{ ...subscriber, subscriberId: id, url: base, type: 'BPP', networkIds: [network] },
    key: { recordId: 'key-1', publicKey: publicKeyOf(key.privateKey), ttlSeconds: 0 },
  });
  try {
    await hosts.crawl();
    const copy = await held(database, caseId);
    // A document without a valid signature must not change what is served.
    if (copy?.served && one.before.length === 0) checkContent(copy);
    if (copy?.served) return accepted;
    const { lines } = await readLog(database, { node: identity, limit: 10, offset: 0 });
    return lines[0]?.code ?? 'not taken, and not logged';
  } finally {
    hosts.remove(tree);
    await removeMembership(database, subscriber, network);
  }
}

interface Copy {
  head: { descriptor?: unknown; provider?: unknown };
  resources: { id: string }[];
}

function checkContent({ head, resources }: Copy): void {
  const { descriptor, provider } = sampleCatalog;
  const ids = resources.map(({ id }) => id).join();
  // With the change file, or without it if it was not accepted.
  const isOriginal = ids === 'r1,r3' || ids === 'r1,r2';
  const { descriptor: name, provider: owner } = head;
  const same = JSON.stringify([name, owner]) === JSON.stringify([descriptor, provider]);
  if (!isOriginal || !same)
    throw new Fault(`tampered files are served: ${JSON.stringify({ head, resources })}`);
}

interface Hosts {
  /** A separate origin. */
  newAddress(): string;
  serve(tree: HostedTree): void;
  remove(tree: HostedTree): void;
  /** Crawls everything that is currently served. */
  crawl(): Promise<void>;
}

const known = new WeakMap<Scene, Promise<Hosts>>();

function hostsOf(scene: Scene): Promise<Hosts> {
  const hosts = known.get(scene) ?? startHosts(scene);
  known.set(scene, hosts);
  return hosts;
}

/** One server for all addresses of the loopback interface: each is a separate host. */
async function startHosts({ database, closing }: Scene): Promise<Hosts> {
  const trees = new Map<string, HostedTree>();
  const server = createServer((request, response) => {
    const file = trees.get(`http://${request.headers.host}`)?.files.get(request.url ?? '');
    response.writeHead(file ? 200 : 404, { 'content-type': 'application/json' }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  closing(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  let number = 0;
  let running: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;
  return {
    newAddress() {
      number += 1;
      return `http://127.${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}:${port}`;
    },
    serve: (tree) => void trees.set(tree.base, tree),
    remove: (tree) => void trees.delete(tree.base),
    /** All calls during a crawl share the next one. */
    crawl() {
      waiting ??= running
        .catch(() => undefined)
        .then(() => {
          waiting = undefined;
          running = crawl(database);
          return running;
        });
      return waiting;
    },
  };
}
