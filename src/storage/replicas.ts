import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { Database, Queryable } from './database.ts';
import { type Position, positionText, serverText } from './freshness.ts';
import { type Primary, primaryIdentity, Replica, type ReplicaOptions, type ReplicaState } from './replica.ts';
import { createQueryable, type Run } from './statement.ts';

// Streaming replicas for searches (DATABASE_READ_URL). A search gets the changes (search/cache/invalidation.ts) and the position of the log from the primary. A replica that has replayed the log up to the last
// change shows everything that the search must see. If there is none, or the chosen one fails during a search, the primary answers.

const lookEveryMs = 1_000;

export type Replicas = Awaited<ReturnType<typeof openReplicas>>;

interface ReplicasOptions extends Pick<ReplicaOptions, 'maxConnections' | 'statementMs'> {
  urls: readonly string[];
  database: Database;
  logger: Logger;
  metrics: Metrics;
}

export async function openReplicas(options: ReplicasOptions) {
  const { urls, database, logger, metrics, maxConnections, statementMs } = options;
  let primary: Primary | undefined;
  const limits = { maxConnections, statementMs };
  const replicas = urls.map((url) => new Replica({ url, primary: () => primary, ...limits, logger }));
  const count = countStatements(metrics);
  const look = async () => {
    const select = `select ${serverText} as server, ${primaryIdentity} as identity, ${positionText} as lsn`;
    primary = await database.apart.first<Primary>(select).catch(() => undefined);
    await Promise.all(replicas.map((replica) => replica.look()));
    observe(metrics, replicas);
  };
  await look();
  const stop = new AbortController();
  const watching = (async () => {
    for (;;) {
      await delay(lookEveryMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      if (stop.signal.aborted) return;
      await look();
    }
  })();
  let turn = 0;

  return {
    /** Statements of one search, on one replica while it is recent enough; then on another one, or on the primary. */
    open(needed: () => Position | undefined): Queryable {
      /** Replicas that this search may still use. It never returns to one: parts of the index would seem to come and go. */
      let left: Replica[] | undefined;
      return createQueryable(
        async <R extends object>(...[text, values, { onPrimary, ...rest } = {}]: Parameters<Run>) => {
          const { timeoutMs = statementMs } = rest;
          const end = performance.now() + timeoutMs;
          const position = onPrimary ? undefined : needed();
          if (position) left ??= chooseAmong(replicas, turn++);
          for (let [replica] = left ?? []; position && replica; [replica] = left ?? []) {
            const statement = { text, values, options: { ...rest, timeoutMs: end - performance.now() } };
            const answer = await replica.query<R>(statement, position);
            count(replica.name, typeof answer === 'string' ? answer : 'answered');
            if (typeof answer !== 'string') return answer;
            left = left?.filter((other) => other !== replica);
          }
          if (!onPrimary) count('primary', 'answered');
          const remaining = rest.timeoutMs && { timeoutMs: Math.max(1, end - performance.now()) };
          return database.query<R>(text, values, { ...rest, ...remaining });
        },
      );
    },

    /** Whether replicas are in use, and none has replayed the log up to a position. */
    async areBehind(position: Position): Promise<boolean> {
      const inUse = replicas.filter(({ isInUse }) => isInUse);
      for (const replica of inUse) if (await replica.hasReplayed(position)) return false;
      return inUse.some(({ isInUse }) => isInUse);
    },

    describe: (): ReplicaState[] => replicas.map((replica) => replica.describe()),

    async close() {
      stop.abort();
      await watching;
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}

/** The replicas in use, ordered by their running statements; equal ones take turns. */
function chooseAmong(replicas: readonly Replica[], turn: number): Replica[] {
  const inUse = replicas.filter(({ isInUse }) => isInUse);
  const first = turn % Math.max(1, inUse.length);
  return [...inUse.slice(first), ...inUse.slice(0, first)].sort((a, b) => a.load - b.load);
}

function countStatements(metrics: Metrics): (server: string, outcome: string) => void {
  const statements = metrics.counter(
    'signpost_search_statements_total',
    'Statements of searches where replicas are read, by the server that was asked and whether it answered, was behind or failed',
    ['server', 'outcome'],
  );
  return (server, outcome) => statements.inc({ server, outcome });
}

function observe(metrics: Metrics, replicas: readonly Replica[]): void {
  const inUse = metrics.gauge('signpost_replica_in_use', 'Whether searches read from a replica', ['server']);
  const lag = metrics.gauge(
    'signpost_replica_lag_bytes',
    'How much of the log of the primary a replica has not replayed',
    ['server'],
  );
  for (const state of replicas.map((replica) => replica.describe())) {
    inUse.set({ server: state.server }, state.inUse ? 1 : 0);
    if (state.behindBytes === undefined) lag.remove({ server: state.server });
    else lag.set({ server: state.server }, state.behindBytes);
  }
}
