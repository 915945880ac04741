import { performance } from 'node:perf_hooks';
import { describe, it } from 'vitest';
import { endLeases } from '../support/database/leases.ts';
import { type FaultRun, faultOptions, isLong, strikes, times } from './fault-run.ts';
import { judge } from './oracle.ts';
import { workThrough } from './work.ts';
import { startWorld } from './world.ts';

// kill -9 at any moment of publish, push, pull, discover and crawl; another process takes over.

/** In the short form the discovery service is killed only while it crawls (killed-crawlers.test.ts). */
const roles = isLong ? (['catalog', 'discovery'] as const) : (['catalog'] as const);

describe.concurrent.each(roles)('a process of the %s service that is killed', (role) => {
  it(
    'at any moment of the work loses nothing that was acknowledged and applies nothing twice',
    faultOptions,
    strikes(`SIGKILL of the ${role} service`, (run) => killThrough(run, role), { isKill: true }),
  );
});

async function killThrough(run: FaultRun, role: 'catalog' | 'discovery') {
  const world = await startWorld();
  try {
    const work = await workThrough(world, run, {
      rounds: times(1, 25),
      publishes: 2,
      async strike({ network, [role]: { processes, start } }) {
        await processes[0]?.kill();
        const killedAt = performance.now();
        // In the long form, the leases of the dead process are sometimes left to expire.
        if (!isLong || run.between(0, 1) > 0.1) await endLeases(network.database);
        await start(0);
        return killedAt;
      },
    });
    return await judge(world, work);
  } finally {
    await world.close();
  }
}
