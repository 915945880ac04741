import { performance } from 'node:perf_hooks';
import { describe, it } from 'vitest';
import { startReplicatedServer } from '../../support/database/replica.ts';
import { until } from '../../support/time.ts';
import { faultOptions, strikes } from '../fault-run.ts';
import { judge } from '../oracle.ts';
import { workThrough } from '../work.ts';
import { startWorld } from '../world.ts';

// The primary is killed, its replica is promoted, and the address switches to it. With synchronous replication, the replica has every acknowledged commit.

describe('a database that fails over to a promoted replica', () => {
  it(
    'has kept everything that was acknowledged, and nothing is applied twice',
    faultOptions,
    strikes('PostgreSQL fails over to a replica', async (run) => {
      const server = await startReplicatedServer();
      const world = await startWorld({ database: { url: server.url, drop: async () => undefined } });
      let { replica } = server;
      const waitForReplica = async (query: (statement: string) => Promise<unknown>) => {
        await query("alter system set synchronous_standby_names = '*'");
        await query('select pg_reload_conf()');
        await until(async () => {
          const { rowCount } = await world.network.database.query(
            "select from pg_stat_replication where sync_state = 'sync'",
          );
          return rowCount > 0;
        }, 'the replica to be in step');
      };
      try {
        await waitForReplica((statement) => world.network.database.query(statement));
        const work = await workThrough(world, run, {
          rounds: 3,
          publishes: 2,
          async strike({ databaseLine }) {
            // Without a primary the address is cut: nothing may write to the old one any more.
            await databaseLine.cut();
            await server.killPrimary().catch(() => undefined);
            await replica.query('select pg_promote()');
            databaseLine.leadTo(replica.url);
            await databaseLine.mend();
            return performance.now();
          },
          async heal() {
            const primary = replica;
            replica = await server.addReplica(primary.cluster);
            await waitForReplica(primary.query);
          },
        });
        return await judge(world, work);
      } finally {
        await world.close();
        await server.close();
      }
    }),
  );
});
