import { afterAll, beforeAll, describe, it } from 'vitest';
import type { ReplicaState } from '../../../src/storage/replica.ts';
import { createSwitches } from '../../support/catalogs/switches.ts';
import {
  type ReplicatedServer,
  startReplicatedServer,
  type TestReplica,
} from '../../support/database/replica.ts';
import type { Body } from '../../support/network/actor.ts';
import { type Discovering, startDiscovering } from '../../support/network/discover.ts';
import { takeTime, until } from '../../support/time.ts';
import { faultOptions, type Outcome, strikes } from '../fault-run.ts';

// Discover with a primary and two streaming replicas, while each of the three is killed.

let server: ReplicatedServer;
let discovering: Discovering;
let replicas: readonly TestReplica[];
const switches = createSwitches(() => discovering);

beforeAll(async () => {
  server = await startReplicatedServer();
  replicas = [server.replica, await server.addReplica()];
  discovering = await startDiscovering({
    database: { url: server.url, drop: async () => undefined },
    settings: {
      DATABASE_READ_URL: replicas.map(({ url }) => url).join(','),
      OVERLOAD_WAITING_CONNECTIONS: '10000',
    },
  });
  await switches.publish();
});

afterAll(async () => {
  await discovering?.network.close();
  await server?.close();
});

describe('a discovery service with two replicas', () => {
  it('reads from both', async () => {
    await untilBothAnswer();
  });

  it(
    'answers every search rightly while one replica after the other is killed',
    faultOptions,
    strikes(
      'SIGKILL of a replica of PostgreSQL',
      async (run) => {
        const over = searchAndPublish(async () => {
          await switches.search();
          return true;
        });
        for (const [index, replica] of replicas.entries()) {
          replica.kill();
          run.count();
          const killedAt = performance.now();
          await until(async () => (await readReplicas())[index]?.inUse === false, 'the loss to be told');
          await run.recover(killedAt, switches.search);
          await replica.start();
          await untilBothAnswer();
        }
        return over();
      },
      { isKill: true },
    ),
  );

  it(
    'answers no search wrongly while the primary is killed, and goes on when it is back',
    faultOptions,
    strikes(
      'SIGKILL of the primary of two replicas',
      async (run) => {
        const over = searchAndPublish(async () => {
          const isAnswered = await switches.trySearch();
          if (!isAnswered) await takeTime(100);
          return isAnswered;
        });
        for (let kills = 0; kills < 2; kills++) {
          const { committed } = switches.last;
          await server.killPrimary();
          run.count();
          await run.recover(performance.now(), async () => {
            await until(() => switches.last.committed > committed, 'the primary to take changes again');
            await until(() => switches.trySearch(), 'a search to be answered again');
          });
          await untilBothAnswer();
        }
        const outcome = await over();
        await switches.search();
        return outcome;
      },
      { isKill: true },
    ),
  );
});

/** Works until the returned function is called. Throws on a wrong search result. A publish that fails may have been committed or not. */
function searchAndPublish(search: () => Promise<boolean>): () => Promise<Outcome> {
  let isOver = false;
  let acknowledged = 0;
  const whileOn = async (work: () => Promise<void>) => {
    while (!isOver) await work();
  };
  const working = Promise.all([
    ...Array.from({ length: 3 }, () =>
      whileOn(async () => {
        if (await search()) acknowledged += 1;
      }),
    ),
    whileOn(async () => {
      await switches.publish().catch(() => undefined);
      await takeTime(50);
    }),
  ]);
  working.catch(() => undefined); // awaited by the caller
  return async () => {
    isOver = true;
    await working;
    return { acknowledged, lost: 0, appliedTwice: 0 };
  };
}

async function untilBothAnswer(): Promise<void> {
  const before = await countStatements();
  await until(async () => {
    await switches.trySearch();
    const after = await countStatements();
    return replicas.every(({ url }) => {
      const { host } = new URL(url);
      return (after.get(host) ?? 0) > (before.get(host) ?? 0);
    });
  }, 'both replicas to answer');
}

async function countStatements(): Promise<Map<string, number>> {
  const text = await (await fetch(`${discovering.network.discoveryUrl}/metrics`)).text();
  const lines = text.matchAll(
    /^signpost_search_statements_total\{server="([^"]+)",outcome="answered"\} (\d+)/gm,
  );
  return new Map(Array.from(lines, ([, name = '', count]) => [name, Number(count)]));
}

async function readReplicas(): Promise<ReplicaState[]> {
  const ready: Body = await (await fetch(`${discovering.network.discoveryUrl}/ready`)).json();
  return ready.roles.discovery.replicas;
}
