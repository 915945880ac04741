import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../src/protocol/keys.ts';
import { registerParticipant, setKeyState } from '../../src/storage/registry/participants.ts';
import { freePort } from '../support/free-port.ts';
import { startDiscovery, type TestDiscovery, withoutDiscovery } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { until } from '../support/time.ts';

// examples/python against a running network: registry, catalog service and discovery service, over HTTP. tests/house/guides.test.ts covers the vectors.

const run = promisify(execFile);
const module = 'examples/python/signpost.py';
const who = { namespace: 'python.signpost.test', registryName: 'subscribers.beckn.one' };
const hasPython = await run('python3', ['-c', 'import cryptography']).then(
  () => true,
  () => false,
);

describe.skipIf(!hasPython)('examples/python (needs Python with cryptography)', () => {
  let network: TestNetwork;
  let discovery: TestDiscovery;
  let directory: string;
  let common: string[];

  beforeAll(async () => {
    network = await startNetwork({ settings: withoutDiscovery });
    discovery = await startDiscovery(network, [
      { catalogUrl: network.catalogUrl, networkIds: [defaultNetwork] },
    ]);
    directory = await mkdtemp(join(tmpdir(), 'signpost-python-'));
    const seed = generateSeed();
    await writeFile(join(directory, 'seed'), seed);
    await registerParticipant(network.database, {
      ...{ ...who, subscriberId: who.namespace, networkIds: [defaultNetwork] },
      key: { recordId: 'key-1', publicKey: publicKeyOf(privateKeyFromSeed(seed)) },
    });
    const callbacks = `http://127.0.0.1:${await freePort()}`;
    common = ['--as', who.namespace, '--seed', join(directory, 'seed'), '--callbacks', callbacks];
    common.push('--registry', network.config.registryUrl);
  });
  afterAll(async () => {
    await discovery?.stop();
    await network?.close();
    await rm(directory, { recursive: true, force: true });
  });

  const python = (...args: string[]) =>
    run('python3', [module, ...args, ...common], { env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });

  async function publish(resources: object[]): Promise<{ stdout: string; stderr: string }> {
    const catalog = {
      id: 'python-tea',
      descriptor: { name: 'Tea' },
      provider: { id: 'p', descriptor: { name: 'Tea Shop' } },
      resources,
    };
    const file = join(directory, 'publish.json');
    await writeFile(file, JSON.stringify({ message: { catalogs: [catalog] } }));
    return python('publish', file, '--to', network.catalogUrl);
  }

  it('publishes, waits for the results, and finds what it has published', async () => {
    const { stdout } = await publish([{ id: 'python-lapsang', descriptor: { name: 'Lapsang Souchong' } }]);
    expect(JSON.parse(stdout)).toMatchObject([{ catalogId: 'python-tea', status: 'ACCEPTED' }]);
    const found = await until(
      () => python('discover', 'lapsang', '--to', discovery.url).catch(() => undefined),
      'the discovery service to have it',
    );
    expect(found.stdout).toBe('Tea Shop: Lapsang Souchong\n');
  });

  it('prints what was refused, with its code and path', async () => {
    await expect(publish([{ descriptor: { name: 'without id' } }])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^SCH_REQUIRED_FIELD_MISSING: .*\(at \$\.message\.catalogs\[0\]\.resources\[0\]\.id\)/,
      ),
    });
  });

  it('finds no key that the registry suspends, or does not have', async () => {
    const { id } = network.config.identities.catalog;
    const service = { namespace: id, registryName: who.registryName };
    const script = `
import sys; sys.path.append("examples/python")
from signpost import Registry
Registry(sys.argv[1]).find_key(sys.argv[2], "key-1")`;
    const look = () => run('python3', ['-B', '-c', script, network.config.registryUrl, id]);
    await look();
    await setKeyState(network.database, service, 'suspended');
    await expect(look()).rejects.toMatchObject({
      stderr: expect.stringContaining('AUT_KEY_EXPIRED_OR_REVOKED'),
    });
    await setKeyState(network.database, service, 'live');
    await expect(
      run('python3', ['-B', '-c', script, network.config.registryUrl, 'nobody.example']),
    ).rejects.toMatchObject({
      stderr: expect.stringContaining('AUT_SUBSCRIBER_NOT_FOUND'),
    });
  });
});
