import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics, type Metrics } from '../../src/metrics.ts';
import { createSearch } from '../../src/search/port.ts';
import type { Database } from '../../src/storage/database.ts';
import type { ReplicaState } from '../../src/storage/replica.ts';
import { openReplicas, type Replicas } from '../../src/storage/replicas.ts';
import { createThreadPool } from '../../src/thread-pool.ts';
import { createSwitches, findOn, readVersion } from '../support/catalogs/switches.ts';
import {
  type ReplicatedServer,
  spareDatabase,
  startReplicatedServer,
  urlIn,
} from '../support/database/replica.ts';
import type { Body } from '../support/network/actor.ts';
import { type Discovering, startDiscovering } from '../support/network/discover.ts';
import { searchWhileWriting } from '../support/search/steady-ingest.ts';
import { takeTime, until, watchFor } from '../support/time.ts';

// Discover with DATABASE_READ_URL, on a primary and a streaming replica of it.

let server: ReplicatedServer;
let discovering: Discovering;
const { last, publish, search } = createSwitches(() => discovering);
const lagMs = 3_000;

beforeAll(async () => {
  server = await startReplicatedServer();
  discovering = await startDiscovering({
    database: { url: server.url, drop: async () => undefined },
    settings: { DATABASE_READ_URL: server.replica.url, OVERLOAD_WAITING_CONNECTIONS: '10000' },
  });
  await publish();
});

afterAll(async () => {
  await discovering?.network.close();
  await server?.close();
});

describe('a discovery service with a replica', () => {
  it('answers discover from the replica, and tells so', async () => {
    await untilReplicaAnswers();
    const before = await countStatements();
    for (let asked = 0; asked < 5; asked++) await search();
    const after = await countStatements();
    expect(after.replica - before.replica).toBeGreaterThanOrEqual(5);
    expect(after.primary).toBe(before.primary);
    expect(await readReplicas()).toEqual([
      {
        server: new URL(server.replica.url).host,
        inUse: true,
        behindBytes: expect.any(Number),
        behindMs: expect.any(Number),
      },
    ]);
  });

  it('answers from the primary what the replica has not replayed, and from the replica once it has', async () => {
    await server.replica.query('select pg_wal_replay_pause()');
    for (let changes = 0; changes < 3; changes++) {
      await publish();
      await search();
      await search();
    }
    const before = await countStatements();
    await search();
    const paused = await countStatements();
    expect(paused.primary).toBeGreaterThan(before.primary);
    expect(paused.replica).toBe(before.replica);
    await until(async () => ((await readReplicas())[0]?.behindBytes ?? 0) > 0, 'the lag to be told');
    await server.replica.query('select pg_wal_replay_resume()');
    await untilReplicaAnswers();
  });

  it('answers every discover rightly while the replica is killed, and reads from it again when it is back', async () => {
    let isOver = false;
    const whileOn = async (work: () => Promise<void>) => {
      while (!isOver) await work();
    };
    const working = Promise.all([
      ...Array.from({ length: 4 }, () => whileOn(search)),
      whileOn(async () => {
        await publish();
        await takeTime(50);
      }),
    ]);
    working.catch(() => undefined); // awaited below
    for (let kills = 0; kills < 2; kills++) {
      await untilReplicaAnswers();
      server.replica.kill();
      await until(async () => (await readReplicas())[0]?.inUse === false, 'the loss to be told');
      await search();
      await server.replica.start();
    }
    await untilReplicaAnswers();
    isOver = true;
    await working;
  });

  it('answers every discover while the replica stands still', async () => {
    await untilReplicaAnswers();
    const thaw = await server.replica.freeze();
    try {
      await Promise.all(Array.from({ length: 4 }, search));
      await publish();
      await Promise.all(Array.from({ length: 4 }, search));
      await until(async () => (await readReplicas())[0]?.inUse === false, 'the standstill to be told');
    } finally {
      thaw();
    }
    await untilReplicaAnswers();
  });
});

describe('a search service with replicas', () => {
  it('may miss what the replica has not replayed for DISCOVER_MAX_LAG_MS, and no longer', async () => {
    const { service, statements, close } = await openSearch([server.replica.url], {
      DISCOVER_MAX_LAG_MS: String(lagMs),
    });
    try {
      await until(async () => {
        await service.search(question);
        const before = await statements();
        await service.search(question);
        return (await statements()).primary === before.primary;
      }, 'the replica to answer');
      const before = last.committed;
      await server.replica.query('select pg_wal_replay_pause()');
      const startedAt = performance.now();
      expect(await versionOf(service.search(question))).toBe(before);
      await publish();
      const { primary } = await statements();
      const missed = await versionOf(service.search(question));
      if (performance.now() - startedAt < lagMs) {
        expect(missed).toBe(before);
        expect((await statements()).primary).toBe(primary);
      }
      await watchFor(lagMs);
      expect(await versionOf(service.search(question))).toBe(last.committed);
      expect((await statements()).primary).toBeGreaterThan(primary);
    } finally {
      await server.replica.query('select pg_wal_replay_resume()');
      await close();
    }
  });

  it('answers what a plain evaluation answers, while several writers change catalogs and the replica lags now and then', async () => {
    const metrics = createMetrics({ process: false });
    let isOver = false;
    const lagging = (async () => {
      while (!isOver) {
        await server.replica.query('select pg_wal_replay_pause()');
        await takeTime(50);
        await server.replica.query('select pg_wal_replay_resume()');
        await takeTime(150);
      }
    })();
    await searchWhileWriting({
      ...{ writers: 3, commits: 10, questions: 3, seed: 20_261_117 },
      home: { url: urlIn(server.url, spareDatabase), drop: async () => undefined },
      openReplicas: (database) => openThese([urlIn(server.replica.url, spareDatabase)], database, metrics),
    }).finally(() => {
      isOver = true;
    });
    await lagging;
    const { primary, replica } = await countIn(metrics);
    expect(primary).toBeGreaterThan(0);
    expect(replica).toBeGreaterThan(0);
  });

  it('uses no address but those of replicas of its database', async () => {
    const nobody = 'postgres://signpost@127.0.0.1:1/signpost';
    const otherDatabase = urlIn(server.replica.url, spareDatabase);
    const { service, statements, replicas, close } = await openSearch([
      ...[server.url, inject('databaseUrl'), otherDatabase, nobody],
    ]);
    try {
      expect(await versionOf(service.search(question))).toBe(last.committed);
      expect((await statements()).replica).toBe(0);
      expect(replicas.describe().map(({ inUse, problem }) => [inUse, problem])).toEqual([
        [false, 'it is not a replica, or no longer one'],
        [false, 'it is not a replica, or no longer one'],
        [false, 'it does not follow the database of DATABASE_URL'],
        [false, expect.stringContaining('ECONNREFUSED')],
      ]);
    } finally {
      await close();
    }
  });

  it('reads from a replica no more after it was promoted', async () => {
    const { service, replicas, close } = await openSearch([server.replica.url]);
    try {
      await until(() => replicas.describe()[0]?.inUse, 'the replica to be used');
      await server.replica.query('select pg_promote()');
      await publish();
      expect(await versionOf(service.search(question))).toBe(last.committed);
      await until(() => replicas.describe()[0]?.inUse === false, 'the promotion to be noticed');
      expect(await versionOf(service.search(question))).toBe(last.committed);
    } finally {
      await close();
    }
  });
});

const question = { message: findOn as Body, scope: {} };

async function versionOf(search: Promise<{ answer: { catalogs: string } }>): Promise<number> {
  const { answer } = await search;
  return readVersion({ message: { catalogs: JSON.parse(answer.catalogs) } });
}

async function untilReplicaAnswers(): Promise<void> {
  await until(async () => {
    const before = await countStatements();
    await search();
    return (await countStatements()).replica > before.replica;
  }, 'the replica to answer');
}

async function countStatements(): Promise<{ primary: number; replica: number }> {
  const text = await (await fetch(`${discovering.network.discoveryUrl}/metrics`)).text();
  const lines = text.matchAll(
    /^signpost_search_statements_total\{server="([^"]+)",outcome="answered"\} (\d+)/gm,
  );
  return addUp(Array.from(lines, ([, name = '', count]) => [name, Number(count)]));
}

function addUp(answered: readonly (readonly [server: string, count: number])[]): {
  primary: number;
  replica: number;
} {
  const sum = (isCounted: (server: string) => boolean) =>
    answered.reduce((total, [name, count]) => total + (isCounted(name) ? count : 0), 0);
  return { primary: sum((name) => name === 'primary'), replica: sum((name) => name !== 'primary') };
}

async function readReplicas(): Promise<ReplicaState[]> {
  const ready: Body = await (await fetch(`${discovering.network.discoveryUrl}/ready`)).json();
  return ready.roles.discovery.replicas;
}

/** Like in a separate process. */
async function openSearch(urls: readonly string[], settings: Record<string, string> = {}) {
  const metrics = createMetrics({ process: false });
  const { database } = discovering.network;
  const replicas = await openThese(urls, database, metrics);
  const threads = createThreadPool({ size: 1, logger: silentLogger() });
  const config = readConfig(settings);
  return {
    service: createSearch({ config, database, replicas, threads, now: () => new Date() }),
    replicas,
    statements: () => countIn(metrics),
    async close() {
      await threads.close();
      await replicas.close();
    },
  };
}

function openThese(urls: readonly string[], database: Database, metrics: Metrics): Promise<Replicas> {
  const limits = { maxConnections: 4, statementMs: 5_000 };
  return openReplicas({ urls, database, metrics, logger: silentLogger(), ...limits });
}

async function countIn({ registry }: Metrics): Promise<{ primary: number; replica: number }> {
  const counter = await registry.getSingleMetric('signpost_search_statements_total')?.get();
  const answered = counter?.values.filter(({ labels }) => labels.outcome === 'answered') ?? [];
  return addUp(answered.map(({ labels, value }) => [String(labels.server), value]));
}
