import { cp } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { register as registerStateCommands } from '../../src/cli/catalog-state.ts';
import { freePort } from '../support/free-port.ts';
import {
  publisherSettings,
  smallCatalog,
  startPublisher,
  type TestPublisher,
} from '../support/hosted/publisher.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { runCommand } from '../support/processes/command.ts';
import { publish, type Settings, useDirectory } from '../support/processes/publish-command.ts';
import { until } from '../support/time.ts';

// After a publish: readers see it at the public address, and discovery services get a hint.

const { directory, write } = useDirectory();

describe('publish, in a network that crawls every five minutes', () => {
  let network: TestNetwork;
  let settings: Settings;

  beforeAll(async () => {
    const port = await freePort();
    network = await startNetwork({
      settings: {
        ROLES: 'registry,discovery,publisher',
        DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
        DISCOVERY_PORT: String(port),
        CRAWL_HINT_URLS: JSON.stringify([`http://127.0.0.1:${port}`]),
      },
    });
    const { config } = network;
    settings = {
      DATA_DIR: config.DATA_DIR,
      REGISTRY_URL: config.registryUrl,
      PUBLISHER_PORT: String(config.PUBLISHER_PORT),
      PUBLISHER_TRIGGER_PORT: String(config.PUBLISHER_TRIGGER_PORT),
      LOG_LEVEL: 'silent',
    };
  });
  afterAll(() => network.close());

  const publicUrl = () => network.config.identities.publisher.url;

  it('is found at once, because the discovery service is told to look', async () => {
    const looked = async () =>
      (await network.database.query('select 1 from discovery.crawl_node where due_at > now()')).rows.length >
      0;
    await until(looked, 'the discovery service to have looked at a publisher without files');
    const run = await publish([write('coffee.json', smallCatalog('coffee'))], settings);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.notes).not.toContain('was not notified');
    const served = async () => (await held(network.database, 'coffee'))?.served === true;
    await until(served, 'the published catalog to be served');
  });

  it('ends with a look at the public address, where everything verifies', async () => {
    const file = write('tea.json', [smallCatalog('tea'), smallCatalog('mate')]);
    const run = await publish([file], settings);
    expect(run.notes).toContain(`Verified at ${publicUrl()}: 2 catalogs as published.`);
    const again = await publish([file, '--json'], settings);
    expect(JSON.parse(again.out)).toMatchObject({ public: { url: publicUrl(), isVerified: true } });
  });

  it('says which version the public address shows where the files were not copied there yet', async () => {
    const copy = join(directory, 'copy');
    await cp(network.config.publisherDir, copy, { recursive: true });
    const elsewhere = { ...settings, PUBLISHER_DIR: copy, PUBLISHER_TRIGGER_PORT: String(await freePort()) };
    const changed = write('tea.json', smallCatalog('tea', ['green']));
    const run = await publish([changed], elsewhere);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.notes).toContain(
      `${publicUrl()} does not show this version: tea is there in version 1, not 2. If you copy the files`,
    );
    const fresh = await publish([write('cocoa.json', smallCatalog('cocoa')), '--json'], elsewhere);
    expect(JSON.parse(fresh.out)).toMatchObject({
      results: [{ status: 'ACCEPTED' }],
      public: { isVerified: false, message: expect.stringContaining('No index there lists cocoa.') },
    });
  });

  it('says so where nobody answers at the public address', async () => {
    const elsewhere = { ...settings, PUBLISHER_URL: `http://127.0.0.1:${await freePort()}` };
    const run = await publish([write('tea.json', smallCatalog('tea'))], elsewhere);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.notes).toContain(`${elsewhere.PUBLISHER_URL} does not show this version`);
  });
});

describe('a discovery service of CRAWL_HINT_URLS', () => {
  const hints: unknown[] = [];
  let status = 200;
  const service = createServer(async (request: IncomingMessage, response) => {
    hints.push([request.method, request.url, await json(request)]);
    const error = { code: 'AUT_RATE_LIMITED', message: 'A hint came a moment ago.' };
    const body = status === 200 ? { message: { status: 'ACK' } } : { message: { status: 'NACK', error } };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  let url: string;
  let publisher: TestPublisher;
  let direct: Settings;

  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const CRAWL_HINT_URLS = JSON.stringify([url]);
    publisher = await startPublisher({ CRAWL_HINT_URLS });
    direct = { ...(await publisherSettings(join(directory, 'direct'))), CRAWL_HINT_URLS };
  });
  beforeEach(() => {
    hints.length = 0;
    status = 200;
  });
  afterAll(async () => {
    await publisher?.close();
    service.close();
  });

  const hint = ['POST', '/crawl-hints', { nodeId: 'publisher.signpost.test' }];

  it.each(['through the trigger', 'by the command itself'])(
    'is told of a publish %s that changed something, and of no other',
    async (way) => {
      const settings = way === 'through the trigger' ? publisher.settings : direct;
      const file = write('coffee.json', smallCatalog('coffee'));
      await publish([file], settings);
      expect(hints).toEqual([hint]);
      await publish([file], settings);
      expect(hints).toEqual([hint]);
      await runCommand(registerStateCommands, ['pause', 'coffee'], settings);
      expect(hints).toEqual([hint, hint]);
    },
  );

  it('never fails a publish: that it was not told is a warning', async () => {
    status = 429;
    const refused = await publish([write('tea.json', smallCatalog('tea'))], publisher.settings);
    expect(refused).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^tea +ACCEPTED +version 1$/m) });
    expect(refused.notes).toContain(
      `Warning: The discovery service at ${url} was not notified: A hint came a moment ago.`,
    );
    const nobody = { ...direct, CRAWL_HINT_URLS: JSON.stringify([`http://127.0.0.1:${await freePort()}`]) };
    const unreachable = await publish([write('tea.json', smallCatalog('tea'))], nobody);
    expect(unreachable).toMatchObject({ exitCode: 0, notes: expect.stringContaining('was not notified') });
  });
});
