import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { alertRules, dashboardQueries, type Query, readAlerts } from '../support/pages/dashboards.ts';
import { endWithUs } from '../support/processes/child-process.ts';
import { hasCommand } from '../support/processes/reverse-proxy.ts';
import { freePorts, makeDataDir, startCommand, startUp } from '../support/processes/up-process.ts';
import { takeTime, until } from '../support/time.ts';

// A real Prometheus scrapes the demo network, and runs every query of the dashboards and every alert rule.

it.skipIf(!hasCommand('prometheus'))(
  'every query of the dashboards finds something in a running network (needs prometheus)',
  { timeout: 1_200_000 },
  async () => {
    const { dataDir, remove } = await makeDataDir();
    const settings: Record<string, string> = { ...(await freePorts()), WORKERS: '2', NO_COLOR: '1' };
    const up = startUp(dataDir, settings);
    const address = `127.0.0.1:${settings.OPERATIONS_PORT}`;
    let prometheus: Awaited<ReturnType<typeof startPrometheus>> | undefined;
    try {
      await up.saying('Signpost is up', 300_000);
      prometheus = await startPrometheus(address);
      const queries = dashboardQueries();
      const found = new Map<string, number>();
      for (const end = Date.now() + 600_000; Date.now() < end && found.size < queries.length; ) {
        await makeTraffic(dataDir, settings, address);
        for (const query of queries) {
          const finite = await prometheus.ask(query);
          if (finite > 0) found.set(query.place + query.expression, finite);
        }
        await takeTime(2_000);
      }
      const empty = queries.filter(({ place, expression }) => !found.has(place + expression));
      console.log(`${queries.length} queries, ${[...found.values()].reduce((a, b) => a + b, 0)} series`);
      expect(empty).toEqual([]);
      // An alert that does not fire has an empty result: Prometheus only has to be able to evaluate it.
      for (const alert of readAlerts()) await prometheus.ask(alert);
    } finally {
      await prometheus?.stop();
      up.signal('SIGTERM');
      await up.ended;
      await remove();
    }
  },
);

/** Searches with and without results, and enough at a time that some wait for connections. */
async function makeTraffic(dataDir: string, settings: Record<string, string>, address: string) {
  for (const text of ['coffee', 'charger', 'nothing of this'])
    await startCommand(['discover', text, '--json'], dataDir, settings).ended;
  await Promise.all(
    Array.from({ length: 100 }, () => fetch(`http://${address}/ready`).catch(() => undefined)),
  );
}

async function startPrometheus(target: string) {
  const directory = await mkdtemp(join(tmpdir(), 'signpost-prometheus-'));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [resolve(alertRules)],
    scrape_configs: [{ job_name: 'signpost', static_configs: [{ targets: [target] }] }],
  };
  // JSON is also YAML.
  await writeFile(join(directory, 'prometheus.yml'), JSON.stringify(config));
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${directory}/prometheus.yml`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  endWithUs(child);
  const url = `http://127.0.0.1:${port}`;
  await until(
    async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok ?? false,
    'Prometheus',
    60_000,
  );
  return {
    /** The number of resulting series with a numeric value. */
    async ask({ expression }: Query): Promise<number> {
      const query = expression.replaceAll('$__rate_interval', '30s');
      const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`);
      const { status, data, error } = (await response.json()) as PrometheusAnswer;
      if (status !== 'success') throw new Error(`${query}: ${error}`);
      return data.result.filter(({ value }) => Number.isFinite(Number(value[1]))).length;
    },
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface PrometheusAnswer {
  status: string;
  error?: string;
  data: { result: { value: [number, string] }[] };
}
