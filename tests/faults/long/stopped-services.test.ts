import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import type { ServiceProcess } from '../../support/processes/service-process.ts';
import { until } from '../../support/time.ts';
import { type FaultRun, faultOptions, strikes } from '../fault-run.ts';
import { judge } from '../oracle.ts';
import { ownId, type Work, workThrough } from '../work.ts';
import { startWorld, type World } from '../world.ts';

// Every role twice on one database. A process of a role is suspended at any moment (SIGSTOP); the load balancer switches to the other one, which does
// the first one's work within 30 s. Then the first one continues, and must not repeat the work.

const takeoverMs = 30_000;
const roles = ['catalog', 'discovery'] as const;

describe.each(roles)('a process of the %s service that stands still', (role) => {
  it(
    'loses its work to the other one within 30 s, and applies nothing twice when it goes on',
    faultOptions,
    strikes(`SIGSTOP of the ${role} service, taken over`, (run) => stopThrough(run, role)),
  );
});

async function stopThrough(run: FaultRun, role: (typeof roles)[number]) {
  const world = await startWorld({ processes: 2 });
  const struck: { process?: ServiceProcess; at: number } = { at: 0 };
  try {
    const work = await workThrough(world, run, {
      rounds: 4,
      // Many of each publisher at once, which wait for each other.
      publishes: 6,
      async strike({ [role]: { processes, line } }) {
        const index = run.pick([0, 1]);
        const other = processes[1 - index];
        struck.process = processes[index];
        struck.process?.halt();
        struck.at = performance.now();
        line.leadTo(other?.url ?? '');
        line.drop();
        return struck.at;
      },
      succeed: (_, { published, searched }) =>
        allAnswered(world, { published: [...published], searched: [...searched] }),
      async heal({ [role]: { processes, line } }) {
        struck.process?.goOn();
        line.leadTo(...processes.map(({ url }) => url));
        expect(performance.now() - struck.at).toBeLessThan(takeoverMs);
      },
    });
    return await judge(world, work);
  } finally {
    struck.process?.goOn();
    await world.close();
  }
}

/** Everything that was acknowledged before is answered by callbacks, and publishes are in the index. */
async function allAnswered(
  { consumer, network }: World,
  { published, searched }: Pick<Work, 'published' | 'searched'>,
): Promise<void> {
  const isTold = ({ received }: { received: { body: { context: { messageId: string } } }[] }, id: string) =>
    received.some(({ body }) => body.context.messageId === id);
  const ids = published.map(({ as, mark }) => ownId(as, mark));
  const areIndexed = async () => {
    const { rowCount } = await network.database.query(
      "select from discovery.catalog where id = any ($1) and provider_id <> ''",
      [ids],
    );
    return rowCount === ids.length;
  };
  await until(
    async () =>
      published.every(({ as, messageId }) => isTold(as, messageId)) &&
      searched.every((messageId) => isTold(consumer, messageId)) &&
      (await areIndexed()),
    'everything that was acknowledged to be answered',
  );
}
