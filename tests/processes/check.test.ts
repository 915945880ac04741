import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Difference } from '../../src/cli/check/difference.ts';
import { register as registerCheckCommand } from '../../src/cli/check.ts';
import { offer, publishCatalog, resource } from '../support/catalogs/small-catalogs.ts';
import { createTestDatabase } from '../support/database/database.ts';
import { freePort } from '../support/free-port.ts';
import { crawl } from '../support/hosted/crawl.ts';
import { catalogOf } from '../support/hosted/crawl-scene.ts';
import { startDiscovery, type TestDiscovery, withoutDiscovery } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';
import { allPushed } from '../support/network/receiver.ts';
import { runCommand } from '../support/processes/command.ts';
import { commandLine } from '../support/processes/up-process.ts';
import { takeTime, until } from '../support/time.ts';

// A running network without differences, into which one of each kind is planted.

const catalogs = ['kept', 'changed', 'lost', 'hidden', 'renamed', 'behind', 'unplanned', 'counted'];

let network: TestNetwork;
let discovery: TestDiscovery;
let node: Provider;

beforeAll(async () => {
  network = await startNetwork({ settings: withoutDiscovery });
  const provider = await network.actor('provider');
  const publish = (id: string, name: string) =>
    publishCatalog(provider, {
      id,
      resources: [resource('r1', name), resource('r2')],
      offers: [offer('o1')],
    });
  // Half of them are pulled, and half are pushed.
  for (const id of catalogs.slice(0, 4)) await publish(id, 'first');
  await publishCatalog(provider, { id: 'paused', isActive: false, resources: [resource('r1')] });
  discovery = await startDiscovery(network, [{ catalogUrl: network.catalogUrl }], {
    DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
  });
  await discovery.settled();
  for (const id of catalogs.slice(4)) await publish(id, 'first');
  await publish('behind', 'second');
  await allPushed(network);
  node = await startProvider(network, 'node');
  await node.publish({ message: { catalogs: [catalogOf('hosted', 0, 3)] } });
  await crawl(network.database);
  await until(async () => (await check('--no-index')).differences.length === 0, 'no difference');
});
afterAll(async () => {
  await node?.stop();
  await discovery?.stop();
  await network?.close();
});

const check = (...args: string[]) => checkWith({}, ...args);

const settings = () => ({
  DATABASE_URL: network.databaseUrl,
  REGISTRY_URL: network.config.registryUrl,
  LOG_LEVEL: 'silent',
  ALLOW_PRIVATE_ADDRESSES: 'true',
});

async function checkWith(
  changed: Record<string, string>,
  ...args: string[]
): Promise<{ exitCode: number; notes: string; differences: Difference[] }> {
  const { exitCode, notes, out } = await runCommand(
    registerCheckCommand,
    [
      'check',
      '--json',
      '--tree',
      node.tree.root,
      ...(args.includes('--wait') ? [] : ['--wait', '0']),
      ...args,
    ],
    { ...settings(), ...changed },
  );
  return { exitCode, notes, differences: JSON.parse(out).differences };
}

const sql = (text: string) => network.database.query(text);
const copyOf = (id: string) => `(select key from discovery.catalog where id = '${id}')`;

describe('signpost check', () => {
  it('finds no difference in a network that is in step, and says what it compared', async () => {
    expect(await check()).toEqual({
      exitCode: 0,
      differences: [],
      notes: expect.stringMatching(
        /^Compared 9 catalogs of the catalog service, [5-9] published documents and \d+ indexed documents: no difference\.$/m,
      ),
    });
  });

  it('takes what is under way for no difference', async () => {
    await sql(`update discovery.catalog set served = false where id = 'hidden'`);
    const checking = check('--no-index', '--wait', '3');
    await takeTime(500);
    await sql(`update discovery.catalog set served = true where id = 'hidden'`);
    expect((await checking).differences).toEqual([]);
  });

  it('takes a push that waits for its next attempt for no difference, and counts it', async () => {
    const behind = `where catalog_key = (select key from catalog.catalog where id = 'behind')`;
    await sql(
      `update catalog.push set acknowledged_version = 1, state = 'pending', attempts = 3, last_error = 'it is down',
         due_at = now() + interval '4 minutes' ${behind}`,
    );
    await sql(
      `update discovery.resource set document = document || '{"x": 1}' where catalog_key = ${copyOf('behind')}`,
    );
    try {
      const { exitCode, notes, differences } = await check('--no-index');
      expect({ exitCode, differences }).toEqual({ exitCode: 0, differences: [] });
      expect(notes).toContain('no difference. Pushes that failed and will be tried again: 1.');
      // The built command exits with 0.
      const built = await promisify(execFile)(
        process.execPath,
        [commandLine, 'check', '--no-index', '--wait', '0'],
        { env: { PATH: process.env.PATH, ...settings() }, cwd: network.config.DATA_DIR },
      );
      expect(built.stderr).toContain('no difference.');
      // The push of another subscriber must not count as a difference of this copy.
      await sql(`update catalog.push set subscriber = 'somebody else' ${behind}`);
      expect((await check('--no-index')).differences).toMatchObject([{ kind: 'copy-differs' }]);
    } finally {
      await sql(
        `update discovery.resource set document = document - 'x' where catalog_key = ${copyOf('behind')}`,
      );
      await sql(
        `update catalog.push set subscriber = (select owner from catalog.subscription limit 1), acknowledged_version = 2, state = 'acknowledged', attempts = 0,
           last_error = null, due_at = null ${behind}`,
      );
    }
  });

  it('compares the rest where the registry cannot be queried for the keys of published files', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}/dedi`;
    const { exitCode, differences } = await checkWith({ REGISTRY_URL: nobody }, '--no-index');
    expect(exitCode).toBe(1);
    expect(differences).toEqual([
      {
        kind: 'file',
        message: expect.stringMatching(/were not compared\. The registry at .* cannot be queried/),
      },
    ]);
  });

  describe('of an empty database', () => {
    async function checkEmpty(...args: string[]) {
      const empty = await createTestDatabase();
      const run = await runCommand(registerCheckCommand, ['check', '--wait', '0', ...args], {
        ...{ DATABASE_URL: empty.url, DATA_DIR: join(node.tree.root, 'none'), LOG_LEVEL: 'silent' },
      });
      await empty.drop();
      return run;
    }

    it('says that there is nothing to compare', async () => {
      expect(await checkEmpty()).toMatchObject({
        exitCode: 1,
        notes: expect.stringContaining('There is nothing to compare'),
      });
    });

    it('counts the differences that it names: published files that cannot be read', async () => {
      expect(await checkEmpty('--tree', join(node.tree.root, 'none'))).toMatchObject({
        exitCode: 1,
        out: expect.stringContaining('were not compared'),
        notes: expect.stringMatching(/ 1 difference\.\n$/),
      });
    });
  });

  interface Planted {
    plant: string;
    undo: string;
    kind: Difference['kind'];
    message: RegExp;
    args?: string[];
  }
  const planted: Record<string, Planted> = {
    'a copy with another resource, one too many and one too few': {
      plant: `update discovery.resource set document = document || '{"id": "r1", "x": 1}' where id = 'r1' and catalog_key = ${copyOf('changed')};
        update discovery.resource set id = 'r9' where id = 'r2' and catalog_key = ${copyOf('changed')}`,
      undo: `update discovery.resource set document = document - 'x' where id = 'r1' and catalog_key = ${copyOf('changed')};
        update discovery.resource set id = 'r2' where id = 'r9' and catalog_key = ${copyOf('changed')}`,
      kind: 'copy-differs',
      message:
        /^catalog changed is at version 1 in the catalog service, but the index differs: resource r2 missing; resource r9 too many; resource r1 with other content\.$/,
    },
    'a copy that is not served': {
      plant: `update discovery.catalog set served = false where id = 'hidden'`,
      undo: `update discovery.catalog set served = true where id = 'hidden'`,
      kind: 'copy-hidden',
      message:
        /^catalog hidden is at version 1 in the catalog service, and is in the index, but not served\.$/,
    },
    'a copy that is missing': {
      plant: `update discovery.catalog set source = 'service:another' where id = 'lost'`,
      undo: `update discovery.catalog set source = (select source from discovery.catalog where id = 'kept') where id = 'lost'`,
      kind: 'copy-missing',
      message: /^catalog lost is at version 1 in the catalog service, but is not in the index\.$/,
    },
    'a copy of a catalog that nobody has published': {
      plant: `update discovery.catalog set id = 'ghost' where id = 'renamed'`,
      undo: `update discovery.catalog set id = 'renamed' where id = 'ghost'`,
      kind: 'copy-surplus',
      message: /^catalog ghost is not in the catalog service, but the index serves it\.$/,
    },
    'a subscriber that has acknowledged an older version': {
      plant: `update catalog.push set acknowledged_version = 1, state = 'parked', last_error = 'it was down'
        where catalog_key = (select key from catalog.catalog where id = 'behind')`,
      undo: `update catalog.push set acknowledged_version = 2, state = 'acknowledged', last_error = null
        where catalog_key = (select key from catalog.catalog where id = 'behind')`,
      kind: 'push-missed',
      message:
        /^catalog behind is at version 2 in the catalog service, and discovery\.signpost\.test\S* has acknowledged version 1; the push is parked \(it was down\)\.$/,
    },
    'a subscriber that is gone once, whatever it misses': {
      plant: `update catalog.push set acknowledged_version = null, state = 'parked', last_error = 'it was down'`,
      undo: `update catalog.push set acknowledged_version = version, state = 'acknowledged', last_error = null
        from catalog.catalog where key = catalog_key`,
      kind: 'push-missed',
      message:
        /^pushes to discovery\.signpost\.test\S* are parked \(it was down\): 4 catalogs: behind, counted, renamed, unplanned\.$/,
    },
    'a subscriber whose push is due and not sent': {
      plant: `update catalog.push_lane set lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour', due_at = now() + interval '1 hour';
        update catalog.push set acknowledged_version = 1, state = 'pending', attempts = 2, due_at = now() - interval '5 minutes'
        where catalog_key = (select key from catalog.catalog where id = 'behind')`,
      undo: `update catalog.push set acknowledged_version = 2, state = 'acknowledged', attempts = 0, due_at = null
        where catalog_key = (select key from catalog.catalog where id = 'behind');
        update catalog.push_lane set lease_token = null, leased_until = null, due_at = now()`,
      kind: 'push-missed',
      message: /^catalog behind is at version 2 in the catalog service, .*; the push is due at /,
    },
    'a subscriber that nobody has told': {
      plant: `update catalog.catalog set updated_at = updated_at + interval '1 hour' where id = 'unplanned';
        update catalog.push set subscriber = 'somebody else' where catalog_key = (select key from catalog.catalog where id = 'unplanned')`,
      undo: `update catalog.catalog set updated_at = updated_at - interval '1 hour' where id = 'unplanned';
        update catalog.push set subscriber = (select owner from catalog.subscription limit 1) where subscriber = 'somebody else'`,
      kind: 'push-missed',
      message:
        /^catalog unplanned is at version 1 .* but discovery\.signpost\.test\S* has missed it: no push was planned\.$/,
    },
    'a catalog whose rows do not add up': {
      plant: `update catalog.catalog set resource_count = 7 where id = 'counted'`,
      undo: `update catalog.catalog set resource_count = 2 where id = 'counted'`,
      kind: 'catalog-rows',
      message:
        /^catalog counted of the catalog service says that it has 7 resources and 1 offers, but has 2 and 1\.$/,
    },
    'a feed that has failed for long': {
      plant: `update discovery.feed set failures = 3, last_error = 'it does not answer.', out_of_step_since = now() - interval '1 hour'`,
      undo: `update discovery.feed set failures = 0, last_error = null, out_of_step_since = null`,
      kind: 'feed-not-in-step',
      message:
        /^The discovery service is out of sync with the catalog service at http:\S+: it does not answer\. Since \S+Z\. Check that /,
    },
    'a signing key that the registry does not have': {
      plant: `insert into work.unregistered_key (role, subscriber_id, record_id, public_key, problem, since, seen_at)
        values ('catalog', 'c.example', 'key-1', 'abc', 'The registry does not know c.example.', now(), now())`,
      undo: 'delete from work.unregistered_key',
      kind: 'key-not-registered',
      message:
        /^The registry does not know c\.example\. .* Since \S+Z\. Register this key there: subscriberId c\.example/,
    },
    'a subscription that the catalog service does not know': {
      plant: `update discovery.feed set subscription_id = '00000000-0000-4000-8000-000000000000', cancelled_ids = array[subscription_id]`,
      undo: 'update discovery.feed set subscription_id = cancelled_ids[1], cancelled_ids = array[]::uuid[]',
      kind: 'subscription',
      message:
        /feed of catalog\.signpost\.test\S* has no ACTIVE subscription: 00000000-0000-4000-8000-000000000000 is unknown/,
    },
    'a crawled catalog whose newest entry was not dealt with': {
      plant: `update discovery.crawl_target set entry_version = 9, settled_digest = 'old', last_code = 'too-large' where catalog_id = 'hosted'`,
      undo: `update discovery.crawl_target set entry_version = applied_entry_version, settled_digest = digest, last_code = null where catalog_id = 'hosted'`,
      kind: 'crawl-behind',
      message:
        /^catalog hosted of node\.signpost\.test\S* is at entry version 9 in its files, and the index has 1: too-large\.$/,
    },
    'an index that has lost a posting list': {
      plant:
        'create table discovery.lost_run as select * from index_1.run; delete from index_1.run where list >= 0',
      undo: 'insert into index_1.run select lost.* from discovery.lost_run as lost where list >= 0; drop table discovery.lost_run',
      kind: 'index',
      message: /^the index differs from its documents: missing: list \d+ \(a fact\)/,
      args: ['--index'],
    },
  };
  it.each(Object.entries(planted))('names %s', async (_what, { plant, undo, kind, message, args }) => {
    for (const statement of plant.split(';')) await sql(statement);
    try {
      const { exitCode, notes, differences } = await check(...(args ? [] : ['--no-index']));
      expect(differences.filter((each) => each.kind === kind)).toContainEqual(
        expect.objectContaining({ message: expect.stringMatching(message) }),
      );
      expect(exitCode).toBe(1);
      expect(notes).toMatch(/\d differences?\.\n$/);
    } finally {
      for (const statement of undo.split(';')) await sql(statement);
    }
  });

  it('names a published file that is not what the index of the node says, and one that the crawler has not seen', async () => {
    await node.publish({ message: { catalogs: [catalogOf('hosted', 0, 5)] } });
    const behind = await check('--no-index');
    expect(behind.differences).toEqual([
      {
        kind: 'file-behind',
        catalogId: 'hosted',
        message: expect.stringMatching(
          /^catalog hosted of node\S+ is at version 2 in the published files, and at version 1 in the index\.$/,
        ),
      },
    ]);
    const files = await readdir(join(node.tree.root, 'catalogs'), { recursive: true, withFileTypes: true });
    const contents = await Promise.all(
      files
        .filter((file) => file.isFile())
        .map(async ({ parentPath, name }) => {
          const file = join(parentPath, name);
          return { file, bytes: await readFile(file) };
        }),
    );
    for (const { file } of contents) await writeFile(file, '{"catalogId": "hosted"}');
    const { differences } = await check('--no-index');
    expect(differences).toContainEqual(
      expect.objectContaining({
        kind: 'file',
        catalogId: 'hosted',
        message: expect.stringMatching(/^published files of node\S+: baseline hosted .*digest/i),
      }),
    );
    for (const { file, bytes } of contents) await writeFile(file, bytes);
    await crawl(network.database);
    expect((await check()).differences).toEqual([]);
  });
});
