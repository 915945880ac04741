import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { register as registerDoctorCommand } from '../../src/cli/doctor.ts';
import { readLog } from '../../src/storage/crawl/log.ts';
import { crawl } from '../support/hosted/crawl.ts';
import { catalogOf } from '../support/hosted/crawl-scene.ts';
import { forge } from '../support/hosted/forged-node.ts';
import { answers, only } from '../support/hosted/tampering.ts';
import type { Body } from '../support/network/actor.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, type ProviderOptions, startProvider } from '../support/network/provider.ts';
import { startTlsHost, type TlsHost } from '../support/network/tls-host.ts';
import { runCommand } from '../support/processes/command.ts';

// Where the crawler looks for a node's manifest: at the origin of its registry record's url, and, if the record has none or that origin answers 404,
// at https://<namespace>.

let network: TestNetwork;
let namespace: TlsHost;
let provider: Provider;

beforeAll(async () => {
  // The namespace's certificate is self-signed.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  network = await startNetwork({ settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) } });
});
afterAll(async () => {
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  await network?.close();
});
beforeEach(async () => {
  namespace = await startTlsHost();
});
afterEach(async () => {
  await network.database.query('delete from discovery.crawl_node where node = $1', [provider.identity]);
  await provider.stop();
  await namespace.stop();
});

let number = 0;

/** Publishes a catalog, crawls it, and returns its id. */
async function publish(options: ProviderOptions, spoil: (provider: Provider) => void): Promise<string> {
  number += 1;
  const id = `catalog-${number}`;
  provider = await startProvider(network, `provider-${number}`, { id: namespace.host, ...options });
  spoil(provider);
  await provider.publish({ message: { catalogs: [catalogOf(id, 0, 3)] } });
  await crawl(network.database);
  return id;
}

const isServed = async (id: string) => (await held(network.database, id))?.served ?? false;
const codes = async () => {
  const { lines } = await readLog(network.database, { node: provider.identity, limit: 9, offset: 0 });
  return lines.map(({ code }) => code);
};
const diagnose = async () => {
  const settings = { REGISTRY_URL: network.config.registryUrl, ALLOW_PRIVATE_ADDRESSES: 'true' };
  const { out } = await runCommand(registerDoctorCommand, ['doctor', provider.id, '--json'], settings);
  return JSON.parse(out) as Body;
};

const noManifest = only('manifest', answers(404));
const atNamespace = ({ tree, spoil }: Provider) => {
  namespace.answer(tree);
  spoil(noManifest);
};

describe('the manifest of a node', () => {
  it('is read at its namespace where the origin of its url answers 404', async () => {
    const id = await publish({}, atNamespace);
    expect(await isServed(id)).toBe(true);
    expect(await codes()).toEqual([]);
    expect(await diagnose()).toMatchObject({ isFound: true, faults: [] });
  });

  it('is read at its namespace where its record has no url', async () => {
    const id = await publish({ registerUrl: false }, ({ tree }) => namespace.answer(tree));
    expect(await isServed(id)).toBe(true);
    expect(provider.requests.filter(({ path }) => path.startsWith('/.well-known/'))).toEqual([]);
    expect(await diagnose()).toMatchObject({ isFound: true, faults: [] });
  });

  it('http-status: is not looked for at its namespace after any other failure, which is retried', async () => {
    const id = await publish({}, ({ tree, spoil }) => {
      namespace.answer(tree);
      spoil(only('manifest', answers(503)));
    });
    expect(namespace.asked).toEqual([]);
    expect(await codes()).toEqual(['http-status']);
    expect(await isServed(id)).toBe(false);

    provider.spoil();
    await crawl(network.database);
    expect(await isServed(id)).toBe(true);
  });

  it('http-status: at its namespace that fails is a fault of a node that was read before, and nothing is forgotten', async () => {
    const id = await publish({}, atNamespace);
    namespace.answer({ status: 500 });
    await crawl(network.database);
    expect(await codes()).toEqual(['http-status']);
    expect(await isServed(id)).toBe(true);
    expect(await diagnose()).toMatchObject({ isFound: false, faults: [{ code: 'http-status' }] });
  });

  it('domain-mismatch: at its namespace that is for another domain is refused', async () => {
    const id = await publish({}, (node) => {
      const manifest = (document: Body) => {
        document.domain = 'another.example.org';
      };
      const spoiler = forge(node, { manifest });
      node.spoil(noManifest);
      namespace.answer({
        async make(path) {
          const spoiled = await spoiler(path, undefined as never, undefined as never);
          return typeof spoiled === 'object' && spoiled.body ? spoiled.body : Buffer.alloc(0);
        },
      });
    });
    expect(namespace.asked).toContain('/.well-known/dedi.index.json');
    expect(await codes()).toEqual(['domain-mismatch']);
    expect(await isServed(id)).toBe(false);
  });

  it('manifest-missing: is missed where it is at neither place, once it was read', async () => {
    const id = await publish({}, atNamespace);
    namespace.answer({ status: 404 });
    await crawl(network.database);
    const { lines } = await readLog(network.database, { node: provider.identity, limit: 9, offset: 0 });
    expect(lines).toMatchObject([
      {
        code: 'manifest-missing',
        message: `There is no manifest at ${provider.url} or https://${namespace.host}.`,
      },
    ]);
    expect(await isServed(id)).toBe(true);
  });
});
