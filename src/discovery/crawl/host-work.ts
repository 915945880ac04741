import { addTo } from '../../group.ts';
import { createBatch } from '../../storage/batch.ts';
import {
  giveBackHosts,
  type HostRow,
  type HostState,
  holdLeases,
  hostTable,
} from '../../storage/crawl/hosts.ts';
import {
  type IndexRow,
  type PolledIndex,
  recordUnchanged,
  takeDueIndexes,
} from '../../storage/crawl/indexes.ts';
import { countFetched, type NodeRow, takeDueNodes } from '../../storage/crawl/nodes.ts';
import { findHostsWithTargets } from '../../storage/crawl/targets.ts';
import type { Database } from '../../storage/database.ts';
import { type Claim, LeaseLost } from '../../storage/work/due-work.ts';

// Takes due work and records its results, for many hosts in a few statements: single statements would cost more than polling an unchanged index.

export type HostWork = ReturnType<typeof createHostWork>;

interface DueWork {
  nodes: NodeRow[];
  indexes: IndexRow[];
  hasTargets: boolean;
}

interface RoundResult {
  claim: Claim<HostRow>;
  unchanged: readonly PolledIndex[];
  fetched: readonly { nodeId: number; bytes: number }[];
  /** Releases the host; absent if there is more to do. */
  release?: HostState;
}

export const itemsPerRound = 100;
const hostsAtOnce = 100;
/** Hosts that were claimed together load their due work together. */
const takeGatherMs = 2;
/** Their answers arrive one by one, and nobody waits for the writes. */
const recordGatherMs = 25;

export function createHostWork({ database, now }: { database: Database; now(): Date }) {
  let inWork = 0;

  const takeLimits = { maxItems: hostsAtOnce, gatherMs: takeGatherMs };
  const take = createBatch<number, DueWork>(takeLimits, async (hosts) => {
    const [nodes, indexes, withTargets] = await Promise.all([
      takeDueNodes(database, hosts, itemsPerRound),
      takeDueIndexes(database, hosts, itemsPerRound, now()),
      findHostsWithTargets(database, hosts),
    ]);
    const [nodesOf, indexesOf] = [byHost(nodes), byHost(indexes)];
    return hosts.map((host) => ({
      nodes: nodesOf.get(host) ?? [],
      indexes: indexesOf.get(host) ?? [],
      hasTargets: withTargets.has(host),
    }));
  });

  const recordLimits = { maxItems: hostsAtOnce, gatherMs: recordGatherMs, expected: () => inWork };
  const record = createBatch<RoundResult, boolean>(recordLimits, (rounds) =>
    database.transaction(async (tx) => {
      const claims = rounds.map(({ claim }) => claim);
      const held = await holdLeases(tx, claims);
      const valid = rounds.filter(({ claim }) => held.has(claim.id));
      const unchanged = valid.flatMap((round) => round.unchanged);
      await recordUnchanged(tx, unchanged);
      const fetched = valid.flatMap((round) => round.fetched);
      await countFetched(tx, fetched, now());
      const released = valid.flatMap(({ claim, release }) => (release ? [{ claim, state: release }] : []));
      await giveBackHosts(tx, released);
      return rounds.map(({ claim }) => held.has(claim.id));
    }),
  );

  return {
    /** Starts work at a host; returns a function that ends it. */
    begin(): () => void {
      inWork += 1;
      return () => {
        inWork -= 1;
      };
    },
    take,
    /** Throws LeaseLost if another process has the host now: then nothing was written. */
    async record(round: RoundResult): Promise<void> {
      if (!(await record(round))) throw new LeaseLost(hostTable, round.claim.id);
    },
  };
}

function byHost<Row extends { host_id: number }>(rows: readonly Row[]): Map<number, Row[]> {
  const all = new Map<number, Row[]>();
  for (const row of rows) addTo(all, row.host_id, row);
  return all;
}
