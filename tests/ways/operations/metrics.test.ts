import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDatabaseGauges } from '../../../src/console/health/database-gauges.ts';
import { crawlCodes } from '../../../src/discovery/crawl/reasons.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { resource } from '../../support/catalogs/small-catalogs.ts';
import { type Discovering, startDiscovering } from '../../support/network/discover.ts';
import {
  alertRules,
  alertTests,
  dashboardQueries,
  metricsIn,
  readAlerts,
} from '../../support/pages/dashboards.ts';
import { hasCommand } from '../../support/processes/reverse-proxy.ts';
import { until } from '../../support/time.ts';

// /metrics of a running network: waiting deliveries, size and lag of the index, searches, and waits for connections.

const run = promisify(execFile);

let scene: Discovering;

beforeAll(async () => {
  scene = await startDiscovering();
  await scene.hold([{ id: 'c1', resources: [resource('tea'), resource('coffee')] }]);
});
afterAll(() => scene?.network.close());

/** The samples of /metrics, by name and labels as written there. */
async function readMetrics(render = readPage): Promise<Map<string, number>> {
  const text = await render();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}

async function readPage(): Promise<string> {
  return (await fetch(`${scene.network.discoveryUrl}/metrics`)).text();
}

/** The gauges of a process that has measured nothing yet. */
function freshGauges(): () => Promise<string> {
  const metrics = createMetrics({ process: false });
  addDatabaseGauges({ database: scene.network.database, metrics, logger: silentLogger() });
  return metrics.render;
}

const parked = (receiver: string) => `{kind="callback",state="parked",receiver="${receiver}"}`;

describe('/metrics', () => {
  it('tells how long intents took, by their parts and whether something was found', async () => {
    await scene.found({ intent: { textSearch: 'tea' } });
    const filters = { type: 'jsonpath', expression: "$.catalogs[*].resources[?@.id == 'none']" };
    await scene.discover({ intent: { filters, textSearch: 'tea' } });
    const metrics = await readMetrics();
    expect(metrics.get('signpost_discover_seconds_count{kind="text",found="true"}')).toBe(1);
    expect(metrics.get('signpost_discover_seconds_count{kind="text+filter",found="false"}')).toBe(1);
    expect(metrics.get('signpost_discovers_total{found="false"}')).toBe(1);
  });

  it('tells what is parked by receiver for the 50 that wait longest, and of the others together', async () => {
    const { database } = scene.network;
    await database.query(
      `insert into work.callback
         (role, action, message_id, destination, receiver, body, request_signature, created_at, settled_at, give_up_at, state)
       select 'discovery', 'on_discover', gen_random_uuid(), 'https://r' || i, 'https://r' || i, '', '', at, at, at, 'parked'
       from generate_series(1, 60) as i cross join lateral (select now() - i * interval '1 hour' as at) as time`,
    );
    const metrics = await readMetrics(freshGauges());
    const named = [...metrics.keys()].filter((name) =>
      name.startsWith('signpost_deliveries{kind="callback"'),
    );
    expect(named.filter((name) => name.includes('state="parked"'))).toHaveLength(51);
    expect(metrics.get(`signpost_deliveries${parked('https://r60')}`)).toBe(1);
    expect(metrics.get(`signpost_deliveries${parked('other')}`)).toBe(10);
    expect(metrics.get(`signpost_delivery_oldest_seconds${parked('https://r60')}`)).toBeCloseTo(
      60 * 3600,
      -2,
    );
    expect(metrics.get(`signpost_delivery_oldest_seconds${parked('other')}`)).toBeCloseTo(10 * 3600, -2);
    expect(metrics.get('signpost_deliveries{kind="push",state="waiting",receiver="other"}')).toBe(0);
  });

  it('tells the size of the index, and the age of what is on its way there', async () => {
    const metrics = await readMetrics();
    expect(metrics.get('signpost_index_documents{kind="catalog"}')).toBe(1);
    expect(metrics.get('signpost_index_documents{kind="resource"}')).toBe(2);
    expect(metrics.get('signpost_index_bytes')).toBeGreaterThan(100_000);
    for (const stage of ['publish', 'push'])
      expect(metrics.get(`signpost_index_lag_seconds{stage="${stage}"}`)).toBeGreaterThanOrEqual(0);
  });

  it('counts every reason of the crawler from zero', async () => {
    const metrics = await readMetrics();
    const counted = crawlCodes.map((code) =>
      metrics.get(`signpost_crawl_faults_total{code="${code}",document=""}`),
    );
    expect(new Set(counted)).toEqual(new Set([0]));
  });

  it('tells how connections to the database are used, and waited for', async () => {
    const { database, config } = scene.network;
    const statements = Array.from({ length: config.DATABASE_CONNECTIONS + 5 }, () =>
      database.query('select pg_sleep(0.2)'),
    );
    const metrics = await readMetrics();
    expect(metrics.get('signpost_database_connections{state="lent"}')).toBe(config.DATABASE_CONNECTIONS);
    expect(metrics.get('signpost_database_waiting')).toBeGreaterThanOrEqual(1);
    await Promise.all(statements);
    const waits = (await readMetrics()).get('signpost_database_wait_seconds_count');
    expect(waits).toBeGreaterThanOrEqual(5);
  });

  it('does not wait for a database that is held up: it leaves out what it does not know', async () => {
    const { database } = scene.network;
    await database.transaction(async (tx) => {
      await tx.query('lock table discovery.catalog in access exclusive mode');
      const render = freshGauges();
      const startedAt = performance.now();
      expect((await readMetrics(render)).has('signpost_index_bytes')).toBe(false);
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    });
  });

  it('has every metric that the dashboards and the alert rules name', async () => {
    const named = new Set([...dashboardQueries(), ...readAlerts()].flatMap(metricsIn));
    // The supervisor of several workers exports it.
    named.delete('signpost_worker_restarts_total');
    // Only an index in OpenSearch has a lag.
    named.delete('signpost_search_lag_seconds');
    expect(named.size).toBeGreaterThan(20);
    await until(async () => (await readPage()).includes('signpost_index_outdated_catalogs'));
    const there = new Set([...(await readPage()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    expect([...named].filter((name) => !there.has(name))).toEqual([]);
  });

  it('is documented, metric by metric and alert by alert', async () => {
    const page = readFileSync('docs/observability.md', 'utf8');
    const text = await readPage();
    const own = [...text.matchAll(/^# TYPE (signpost_\S+)/gm)].map(([, name]) => name ?? '');
    expect(own.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    expect(readAlerts().filter(({ name }) => !page.includes(`### ${name}\n`))).toEqual([]);
    const documented = [...page.matchAll(/^### (Signpost\w+)$/gm)].map(([, name]) => name);
    expect(documented).toEqual(readAlerts().map(({ name }) => name));
  });

  it.skipIf(!hasCommand('promtool'))(
    'has alert rules that hold to their tests (needs promtool)',
    async () => {
      await run('promtool', ['check', 'rules', alertRules]);
      await run('promtool', ['test', 'rules', alertTests]);
      await run('promtool', ['check', 'config', 'deploy/prometheus/prometheus.yml']);
    },
  );
});
