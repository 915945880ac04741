import type { Metrics } from '../metrics.ts';
import type { LendingPool } from './lend-connection.ts';

/** Counts how the connections of a pool are used, and how long they are waited for. */
export function observePool(pool: LendingPool, metrics: Metrics): void {
  const connections = metrics.gauge(
    'signpost_database_connections',
    'Connections to PostgreSQL: lent to a piece of work, or idle',
    ['state'],
    {
      aggregator: 'sum',
      collect() {
        connections.set({ state: 'lent' }, pool.totalCount - pool.idleCount);
        connections.set({ state: 'idle' }, pool.idleCount);
      },
    },
  );
  const waiting = metrics.gauge(
    'signpost_database_waiting',
    'Pieces of work that wait for a connection to PostgreSQL',
    [],
    {
      aggregator: 'sum',
      collect() {
        waiting.set(pool.waitingCount);
      },
    },
  );
  const waits = metrics.histogram(
    'signpost_database_wait_seconds',
    'How long a connection to PostgreSQL was waited for, where none was idle',
  );
  pool.onWait = (seconds) => waits.observe(seconds);
}
