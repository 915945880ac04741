import { performance } from 'node:perf_hooks';
import { it } from 'vitest';
import { type FaultRun, faultOptions, strikes } from '../fault-run.ts';
import { judge } from '../oracle.ts';
import { workThrough } from '../work.ts';
import { startWorld } from '../world.ts';

// Registry, catalog service and discovery service with two processes each, on one database. A process of any role is killed at any moment; the load
// balancer switches to the other one, which continues the dead one's work when its leases expire. (Publishers of one tree:
// killed-publishers.test.ts.)

const roles = ['registry', 'catalog', 'discovery'] as const;

it(
  'with every role twice, a process of any of them that is killed loses nothing that was acknowledged, and nothing is applied twice',
  faultOptions,
  strikes('SIGKILL of one of two processes of a role', killThrough, { isKill: true }),
);

async function killThrough(run: FaultRun) {
  const world = await startWorld({ processes: 2, ttlSeconds: 1 });
  const killed: { role: (typeof roles)[number]; index: number } = { role: 'registry', index: 0 };
  try {
    const work = await workThrough(world, run, {
      rounds: 12,
      publishes: 2,
      async strike() {
        Object.assign(killed, { role: run.pick(roles), index: run.pick([0, 1]) });
        await world[killed.role].processes[killed.index]?.kill();
        return performance.now();
      },
      async heal() {
        const { processes, line, start } = world[killed.role];
        await start(killed.index);
        // The first one gets the requests.
        line.leadTo(...processes.map(({ url }) => url).sort(() => run.between(-1, 1)));
      },
    });
    return await judge(world, work);
  } finally {
    await world.close();
  }
}
