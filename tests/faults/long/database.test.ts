import { performance } from 'node:perf_hooks';
import pg from 'pg';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type OwnServer, startOwnServer } from '../../support/database/replica.ts';
import { takeTime, until } from '../../support/time.ts';
import { type FaultRun, faultOptions, strikes } from '../fault-run.ts';
import { judge } from '../oracle.ts';
import { createDatabaseOnSmallDisk, mayMount } from '../small-disk.ts';
import { type WorkOptions, workThrough } from '../work.ts';
import { startWorld, type World } from '../world.ts';

// PostgreSQL restarted, killed, out of connections, out of disk, slow, locked and out of reach, while publishers publish and a consumer searches.

const maxConnections = 80;
const seconds = 1_000;

const faults: Record<string, (run: FaultRun, world: World, server: OwnServer) => Promise<void>> = {
  'is restarted': async (_, __, server) => {
    await server.signal('SIGINT');
    await untilItAnswers(server);
  },
  'is killed': async (_, __, server) => {
    await server.signal('SIGKILL');
    await untilItAnswers(server);
  },
  'loses a process of a session': async (_, { network }, server) => {
    // The server then ends all sessions and recovers.
    const { rows } = await network.database.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and application_name = 'signpost' and pid <> pg_backend_pid() limit 1`,
    );
    if (rows[0]) process.kill(rows[0].pid, 'SIGKILL');
    await untilItAnswers(server);
  },
  'is out of connections': async (run, _, { url }) => {
    const held = await takeAllConnections(url, run.between(2, 4) * seconds);
    await Promise.all(held.map((client) => client.end()));
  },
  'is slow': async (run, { databaseLine }) => {
    databaseLine.slowDown(run.between(50, 200));
    await takeTime(run.between(2, 5) * seconds);
    databaseLine.slowDown(0);
  },
  'is locked by somebody': async (run, _, { url }) => {
    const client = await connect(url);
    await client.query(
      'begin; lock table catalog.catalog, discovery.catalog, work.callback in access exclusive mode',
    );
    await takeTime(run.between(1, 4) * seconds);
    await client.end();
  },
  'is out of reach': async (run, { databaseLine }) => {
    await databaseLine.cut();
    await takeTime(run.between(1, 4) * seconds);
    await databaseLine.mend();
  },
};

describe('a database that', () => {
  let server: OwnServer;
  let world: World;
  beforeAll(async () => {
    server = await startOwnServer({ max_connections: `${maxConnections}` });
    world = await startWorld({ database: { url: server.url, drop: async () => undefined } });
  });
  afterAll(async () => {
    await world?.close();
    await server?.close();
  });

  it.for(Object.keys(faults))(
    '%s has kept everything that was acknowledged, and nothing is applied twice',
    faultOptions,
    (fault, context) =>
      strikes(`PostgreSQL ${fault}`, (run) =>
        strikeDatabase(world, run, async () => {
          await faults[fault]?.(run, world, server);
          return performance.now();
        }),
      )(context),
  );
});

describe('a database whose disk is full (needs root that may mount one)', () => {
  it.runIf(mayMount)(
    'has kept everything that was acknowledged, and nothing is applied twice',
    faultOptions,
    strikes('PostgreSQL is out of disk', async (run) => {
      const { database, fill, empty } = await createDatabaseOnSmallDisk();
      const world = await startWorld({ database });
      try {
        return await strikeDatabase(world, run, async () => {
          await fill();
          await takeTime(run.between(2, 4) * seconds);
          await empty();
          return performance.now();
        });
      } finally {
        await world.close();
      }
    }),
  );
});

async function strikeDatabase(world: World, run: FaultRun, strike: WorkOptions['strike']) {
  const work = await workThrough(world, run, { rounds: 4, publishes: 2, strike });
  return judge(world, work);
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, application_name: 'somebody else' });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function untilItAnswers({ url }: OwnServer): Promise<void> {
  // It may still accept connections while it stops.
  await takeTime(500);
  await until(async () => {
    const client = await connect(url).catch(() => undefined);
    await client?.end();
    return client !== undefined;
  }, 'the server to be back');
}

/** Other clients take every connection, including those of the services and every one that becomes free. */
async function takeAllConnections(url: string, holdMs: number): Promise<pg.Client[]> {
  const first = await connect(url);
  const held = [first];
  for (const end = performance.now() + holdMs; performance.now() < end; await takeTime(20)) {
    const ours = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'signpost'";
    await first.query(ours);
    for (let client: pg.Client | undefined = first; client; ) {
      client = await connect(url).catch(() => undefined);
      if (client) held.push(client);
    }
  }
  return held;
}
