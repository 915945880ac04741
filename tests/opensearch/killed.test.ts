import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findObstacle, type RunningOpenSearch, startOpenSearch } from '../../scripts/opensearch.mjs';
import { type ChangingLamps, changeLamps } from '../support/catalogs/changing-lamps.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { playService } from '../support/network/played-service.ts';
import { prepareDiscovery } from '../support/processes/discovery-process.ts';
import type { ServiceProcess } from '../support/processes/service-process.ts';
import { openSearchSettings } from '../support/search/opensearch.ts';
import { until } from '../support/time.ts';

// Three nodes of OpenSearch and two discovery services, each in a process of its own and killed by kill -9, while lamps are pushed and searched for. One service has OpenSearch alone, the
// other one answers from PostgreSQL while it is gone. The tests, in their order, see one life of them.

const obstacle = findObstacle();
const needs = obstacle ? ` (${obstacle})` : '';

describe.skipIf(obstacle)(`three nodes of OpenSearch and two discovery services${needs}`, () => {
  let opensearch: RunningOpenSearch;
  let network: TestNetwork;
  let startAlone: () => Promise<ServiceProcess>;
  let startBoth: () => Promise<ServiceProcess>;
  let alone: ServiceProcess;
  let both: ServiceProcess;
  let lamps: ChangingLamps;

  beforeAll(async () => {
    opensearch = await startOpenSearch({ heapMb: 512, nodes: 3 });
    network = await startNetwork({ settings: { ROLES: 'registry' } });
    const service = await playService(network, 'service', () => alone.url);
    const consumer = await network.actor('shopper');
    const prepare = (names: string) =>
      prepareDiscovery(network, {
        ...openSearchSettings(opensearch.urls.join(), names),
        RATE_LIMIT_PER_SECOND: '0',
        TIME_LIMIT_MS_PER_SECOND: '0',
        OVERLOAD_EVENT_LOOP_MS: '60000',
        LOG_LEVEL: 'info',
        DISCOVERY_SUBSCRIPTIONS: JSON.stringify([
          { catalogUrl: service.actor.url, catalogId: service.actor.id, networkIds: [defaultNetwork] },
        ]),
      });
    startAlone = await prepare('opensearch');
    startBoth = await prepare('postgres,opensearch');
    alone = await startAlone();
    both = await startBoth();
    lamps = changeLamps(service, consumer, [alone.url, both.url]);
    await caughtUp();
  });
  afterAll(async () => {
    await lamps?.stop();
    await Promise.all([alone?.kill(), both?.kill()]);
    await network?.close();
    await opensearch?.close();
  });

  /** Waits until OpenSearch has all that is committed now. */
  async function caughtUp(): Promise<void> {
    const { database } = network;
    const { rows } = await database.query<{ next: string }>(
      'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
    );
    await until(async () => {
      const { rowCount } = await database.query(
        `select from discovery.opensearch_index where is_current and not exists (
           select from discovery.document_change where xid < $1::xid8 and not pg_visible_in_snapshot(xid, snapshot))`,
        [rows[0]?.next],
      );
      return rowCount > 0;
    }, 'OpenSearch to catch up');
  }
  const ready = async ({ url }: ServiceProcess) => {
    const response = await fetch(`${url}/ready`);
    return { status: response.status, body: await response.text() };
  };
  const isTold = ({ log }: ServiceProcess, words: string, since = 0) =>
    log.slice(since).some((line) => line.includes(words));

  it('answer from OpenSearch', async () => {
    const before = await countQueries(opensearch.urls);
    await lamps.more('answered', alone.url);
    expect(await countQueries(opensearch.urls)).toBeGreaterThan(before + 20);
    expect(lamps.wrong).toEqual([]);
  });

  it('go on when the node is killed that has the index, and when it comes back', async () => {
    const node = await findNodeOfPrimary(opensearch);
    await node.kill();
    for (const service of [alone, both]) await lamps.more('answered', service.url);
    await caughtUp();
    expect(await ready(alone)).toMatchObject({ status: 200, body: expect.stringContaining('answers') });
    await node.start();
    await caughtUp();
    for (const service of [alone, both]) await lamps.more('answered', service.url);
    expect(lamps.wrong).toEqual([]);
  });

  it('say so when all nodes are killed, take pushes meanwhile, and catch up by themselves', async () => {
    const logged = alone.log.length;
    await Promise.all(opensearch.nodes.map((node) => node.kill()));
    await until(async () => (await ready(alone)).status === 503, '/ready to tell');
    expect((await ready(alone)).body).toContain('OpenSearch does not answer');
    await until(
      async () => (await ready(both)).body.includes('PostgreSQL does instead'),
      'the other to tell',
    );
    expect((await ready(both)).status).toBe(200);
    await until(() => isTold(alone, 'OpenSearch does not do what it is asked', logged), 'the log to tell');
    const { pushed } = lamps;
    await lamps.more('refused', alone.url);
    const refused = lamps.refused.get(both.url);
    await lamps.more('answered', both.url);
    expect(lamps.refused.get(both.url)).toBe(refused);
    expect(lamps.pushed).toBeGreaterThan(pushed);
    expect(isTold(alone, 'OpenSearch answers again', logged)).toBe(false);

    await Promise.all(opensearch.nodes.map((node) => node.start()));
    await until(async () => (await ready(alone)).status === 200, '/ready to tell');
    await until(() => isTold(alone, 'OpenSearch answers again', logged), 'the log to tell');
    await caughtUp();
    for (const service of [alone, both]) await lamps.more('answered', service.url);
    expect(lamps.wrong).toEqual([]);
  });

  it('take each other’s place as the follower when one is killed', async () => {
    await both.kill();
    await caughtUp();
    both = await startBoth();
    await lamps.more('answered', both.url);
    await alone.kill();
    await caughtUp();
    alone = await startAlone();
    for (const service of [alone, both]) await lamps.more('answered', service.url);
    expect(lamps.wrong).toEqual([]);
  });

  it('have every lamp in OpenSearch in the end, once', async () => {
    await lamps.stop();
    await caughtUp();
    const { rows } = await network.database.query<{ name: string; resources: number }>(
      'select name, (select count(*)::integer from discovery.resource) as resources from discovery.opensearch_index',
    );
    expect(rows).toHaveLength(1);
    const answer = await fetch(`${opensearch.url}/${rows[0]?.name}/_count`);
    expect(await answer.json()).toMatchObject({ count: rows[0]?.resources });
  });
});

/** Of all nodes that answer. */
async function countQueries(urls: readonly string[]): Promise<number> {
  const answer = await fetch(`${urls[0]}/_stats/search`);
  const { _all } = (await answer.json()) as { _all: { total: { search: { query_total: number } } } };
  return _all.total.search.query_total;
}

async function findNodeOfPrimary({ nodes, url }: RunningOpenSearch) {
  const shards = await fetch(`${url}/_cat/shards/signpost-*?h=prirep,id&format=json`);
  const primary = ((await shards.json()) as { prirep: string; id: string }[]).find(
    ({ prirep }) => prirep === 'p',
  );
  for (const node of nodes) {
    const answer = await fetch(`${node.url}/_nodes/_local/http`);
    const { nodes: local } = (await answer.json()) as { nodes: object };
    if (primary && primary.id in local) return node;
  }
  throw new Error('no node has the index');
}
