import type { Queryable, Transaction } from './database.ts';
import { type Claim, LeaseLost } from './due-work.ts';

// Hosts that are crawled: the rows of due work of the crawler (migrations/0007-crawl.sql). Whoever holds a host does what is due of its
// nodes, indexes and targets, and writes under its lease.

export const hostTable = 'discovery.crawl_host';
export const crawlChannel = 'crawl';

export interface HostRow {
  host: string;
  failures: number;
}

/** The lease on a host, while its work is done. */
export type HostLease = Pick<Claim<HostRow>, 'id' | 'token'>;

/**
 * Call it in every transaction that writes a result: it fails when the lease was lost, and until the end of the transaction nobody else gets
 * the host. The weakest of locks, because results are written all the time, and the lease must be prolonged meanwhile.
 */
export async function holdLease(tx: Transaction, { id, token }: HostLease): Promise<void> {
  const { rowCount } = await tx.query(
    'select from discovery.crawl_host where id = $1 and lease_token = $2 for key share',
    [id, token],
  );
  if (rowCount === 0) throw new LeaseLost(hostTable, id);
}

/** The id of a host, which is made where it is not known. */
export async function hostId(tx: Transaction, host: string): Promise<number> {
  await tx.query('insert into discovery.crawl_host (host) values ($1) on conflict (host) do nothing', [host]);
  const { rows } = await tx.query<{ id: number }>('select id from discovery.crawl_host where host = $1', [
    host,
  ]);
  return rows[0]?.id ?? 0;
}

/** Something of these hosts has become due; one that rests is left in peace. */
export async function wakeHosts(tx: Transaction, ids: readonly number[], at: Date): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `update discovery.crawl_host set due_at = least(due_at, greatest($2, rest_until))
     where id in (select id from discovery.crawl_host where id = any ($1) order by id for no key update)`,
    [ids, at],
  );
  tx.hint(crawlChannel);
}

/** When the next thing of a host is due: not before it has rested. */
export async function nextDueOfHost(queryable: Queryable, id: number): Promise<Date | null> {
  const { rows } = await queryable.query<{ due: Date | null }>(
    `select case when due is null then null else greatest(due, rest_until) end as due
     from discovery.crawl_host, lateral (
       select min(due_at) as due from (
         (select due_at from discovery.crawl_node where host_id = $1 and due_at is not null order by due_at limit 1)
         union all (select due_at from discovery.crawl_index where host_id = $1 and due_at is not null order by due_at limit 1)
         union all (select min(due_at) from discovery.crawl_target where host_id = $1 and due_at is not null)
       ) as first
     ) as work
     where id = $1`,
    [id],
  );
  return rows[0]?.due ?? null;
}

/** It could not be reached: it is left in peace for a while. Or it could again. */
export async function noteReached(tx: Transaction, lease: HostLease, state: HostState): Promise<void> {
  await tx.query(
    'update discovery.crawl_host set failures = $3, rest_until = $4 where id = $1 and lease_token = $2',
    [lease.id, lease.token, state.failures, state.restUntil],
  );
}

export interface HostState {
  failures: number;
  restUntil: Date | null;
}
