import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCluster } from '../support/processes/embedded-process.ts';
import { freePorts, makeDataDir, startUp, type UpProcess } from '../support/processes/up-process.ts';
import { until } from '../support/time.ts';

// All roles on the embedded PostgreSQL, killed (kill -9) and restarted: how soon they are ready.

const readyMs = 30_000;

let data: Awaited<ReturnType<typeof makeDataDir>>;
let settings: Record<string, string>;
let running: UpProcess | undefined;
/** The duration of a start here without an earlier kill. */
let firstMs: number;

beforeAll(async () => {
  data = await makeDataDir();
  settings = { ...(await freePorts()), OPERATIONS_PORT: '0', LOG_LEVEL: 'warn' };
  firstMs = await startUntilReady();
});
afterAll(async () => {
  running?.signal('SIGTERM');
  await running?.ended;
  await data?.remove();
});

/** Returns the duration. */
async function startUntilReady(): Promise<number> {
  const startedAt = performance.now();
  running = startUp(data.dataDir, settings);
  await until(isReady, 'the roles to be ready');
  return performance.now() - startedAt;
}

async function isReady(): Promise<boolean> {
  const ports = [settings.CATALOG_PORT, settings.DISCOVERY_PORT, settings.PUBLISHER_PORT];
  const answers = ports.map((port) => fetch(`http://127.0.0.1:${port}/ready`).then(({ status }) => status));
  return (await Promise.all(answers).catch(() => [])).filter((status) => status === 200).length === 3;
}

describe('a process that was killed', () => {
  it.each([
    ['alone: its PostgreSQL lives on', false],
    ['together with its PostgreSQL', true],
  ])('is ready again within 30 s, %s', async (_, withServer) => {
    const { pid = 0 } = await readCluster(data.dataDir);
    if (withServer) process.kill(pid, 'SIGKILL');
    running?.signal('SIGKILL');
    await running?.ended;
    // A busy machine may be too slow for any start in that time.
    expect(await startUntilReady()).toBeLessThan(Math.max(readyMs, firstMs));
  });
});
