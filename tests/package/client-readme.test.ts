import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalog } from '../support/catalogs/sample-catalogs.ts';
import { freePort } from '../support/free-port.ts';
import { trigger } from '../support/hosted/publisher.ts';
import { registerClient } from '../support/network/client.ts';
import { startDiscovery, type TestDiscovery } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { until } from '../support/time.ts';

// Every example of the client's README, unchanged except for addresses, run by Node with the built package against a real network.

const run = promisify(execFile);

describe('the examples of the client package', async () => {
  const text = await readFile('packages/client/README.md', 'utf8');
  const blocks = [...text.matchAll(/```js\n\/\/ (\S+)\n([\s\S]*?)```/g)];
  const examples = new Map(blocks.map(([, name = '', code = '']) => [name, code]));
  let network: TestNetwork;
  let discovery: TestDiscovery;
  let folder: string;

  beforeAll(async () => {
    network = await startNetwork({ settings: { ROLES: 'registry,catalog,publisher' } });
    discovery = await startDiscovery(network, [
      { catalogUrl: network.catalogUrl, networkIds: [defaultNetwork] },
    ]);
    const { privateKey } = await registerClient(network, 'provider');
    folder = await mkdtemp(join(tmpdir(), 'signpost-client-readme-'));
    await mkdir(join(folder, '.signpost/keys'), { recursive: true });
    await writeFile(join(folder, '.signpost/keys/provider.signpost.test.key-1.seed'), privateKey);
    await mkdir(join(folder, 'node_modules'));
    await symlink(resolve('packages/client'), join(folder, 'node_modules/signpost-client'), 'junction');
    for (const name of ['fastify', 'express'])
      await symlink(resolve('node_modules', name), join(folder, 'node_modules', name), 'junction');
    const { registryUrl, identities } = network.config;
    const addresses = new Map([
      ['http://127.0.0.1:4001/dedi', registryUrl],
      ['http://127.0.0.1:4002', network.catalogUrl],
      ['http://127.0.0.1:4003', discovery.url],
      ['http://127.0.0.1:4004', identities.publisher.url],
      ['5011', String(await freePort())],
      ['5012', String(await freePort())],
    ]);
    for (const [name, code] of examples) {
      const here = [...addresses].reduce((all, [shown, real]) => all.replaceAll(shown, real), code);
      await writeFile(join(folder, name), here);
    }
  });
  afterAll(async () => {
    await discovery?.stop();
    await network?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const runExample = async (name: string) => {
    expect(examples.has(name), `${name} in the README`).toBe(true);
    return (await run(process.execPath, [name], { cwd: folder })).stdout;
  };

  it('are ten lines or so, and all of them are run here', () => {
    const lengths = [...examples.values()].map((code) => code.trim().split('\n').length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(15);
    expect([...examples.keys()]).toEqual([
      ...['identity.mjs', 'publish.mjs', 'discover.mjs', 'hits.mjs', 'pull.mjs', 'errors.mjs'],
      ...[
        'with-fastify.mjs',
        'with-express.mjs',
        'with-fetch.mjs',
        'verify.mjs',
        'inbox.mjs',
        'verify-tree.mjs',
      ],
    ]);
    expect(text.match(/```js/g)).toHaveLength(examples.size);
  });

  it('publish a catalog, and print its result', async () => {
    expect(await runExample('publish.mjs')).toMatch(/^ACCEPTED \{ itemCount: 1/);
  });

  it('discover it, by a listener, in Fastify and in Express', async () => {
    await until(
      async () => (await runExample('discover.mjs')) === 'Brass desk lamp 1200 INR Lamp shop\n',
      'the lamp to be found',
    );
    expect(await runExample('hits.mjs')).toMatch(
      /^available \[ \{ value: 1200, currency: 'INR'.* undefined unprovable\n$/s,
    );
    expect(await runExample('with-fastify.mjs')).toBe('lamp-1\n');
    expect(await runExample('with-express.mjs')).toBe('lamp-1\n');
  });

  it('subscribe, pull and search', async () => {
    expect(await runExample('pull.mjs')).toBe('pulled lamps\nsearched lamps\n');
  });

  it('show code and path of an error', async () => {
    expect(await runExample('errors.mjs')).toBe(
      'SCH_REQUIRED_FIELD_MISSING $.message.catalogs[0].provider.descriptor\n',
    );
  });

  it('receive in a server of the Fetch API, and verify what anybody received', async () => {
    const script = `
      import server from './with-fetch.mjs';
      import { onPush } from './verify.mjs';
      const request = new Request('https://provider.example.org/on_discover', { method: 'POST', body: '{}' });
      const refusal = await onPush(Buffer.from('{}'), {}).catch((error) => error);
      console.log((await server.fetch(request)).status, refusal.code);`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
    expect(stdout).toBe('401 AUT_SIGNATURE_MISSING\n');
  });

  it('keep what came in an inbox', async () => {
    expect(await runExample('inbox.mjs')).toBe('401 0\n');
  });

  it('verify published files', async () => {
    await trigger(network.config, { message: { catalogs: [catalog('hosted')] } });
    const { id } = network.config.identities.publisher;
    expect(await runExample('verify-tree.mjs')).toBe(`true ${id}/${network.config.REGISTRY_NAME} 1\n`);
  });
});
