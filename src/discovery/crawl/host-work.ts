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

// What is due at hosts, and what came of looking at them, for many hosts in a few statements: those of each host alone would cost more than a
// poll of an index that has not changed.

export interface HostWork {
  /** Work at a host begins; returns how to say that it has ended. */
  begin(): () => void;
  take(host: number): Promise<DueWork>;
  /** Throws LeaseLost when somebody else has the host now: then nothing was written. */
  record(round: RoundResult): Promise<void>;
}

interface DueWork {
  nodes: NodeRow[];
  indexes: IndexRow[];
  hasTargets: boolean;
}

/** Work that belongs to no single catalog or index. */
export interface RoundResult {
  claim: Claim<HostRow>;
  unchanged: readonly PolledIndex[];
  fetched: readonly { nodeId: number; bytes: number }[];
  /** The host is given back; otherwise there is more to do. */
  release?: HostState;
}

/** Items of one kind at one host. */
export const itemsPerRound = 100;
const hostsAtOnce = 100;
/** Hosts that were claimed together ask together what is due. */
const takeGatherMs = 2;
/** Their answers come one by one, and nobody waits for these to be recorded. */
const recordGatherMs = 25;

export function createHostWork({ database, now }: { database: Database; now(): Date }): HostWork {
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
      const held = await holdLeases(
        tx,
        rounds.map(({ claim }) => claim),
      );
      const valid = rounds.filter(({ claim }) => held.has(claim.id));
      await recordUnchanged(
        tx,
        valid.flatMap(({ unchanged }) => unchanged),
      );
      await countFetched(
        tx,
        valid.flatMap(({ fetched }) => fetched),
        now(),
      );
      await giveBackHosts(
        tx,
        valid.flatMap(({ claim, release }) => (release ? [{ claim, state: release }] : [])),
      );
      return rounds.map(({ claim }) => held.has(claim.id));
    }),
  );

  return {
    begin() {
      inWork += 1;
      return () => {
        inWork -= 1;
      };
    },
    take,
    async record(round) {
      if (!(await record(round))) throw new LeaseLost(hostTable, round.claim.id);
    },
  };
}

function byHost<Row extends { host_id: number }>(rows: readonly Row[]): Map<number, Row[]> {
  const all = new Map<number, Row[]>();
  for (const row of rows) {
    const known = all.get(row.host_id);
    if (known) known.push(row);
    else all.set(row.host_id, [row]);
  }
  return all;
}
