import type { Transaction } from '../database.ts';
import { join, type Sql, sql } from '../sql.ts';
import { type Claim, LeaseLost } from '../work/due-work.ts';
import { dueAfter, dueIn, heldBy, markSettled } from '../work/leases.ts';

// Hosts that are crawled: the rows of due work of the crawler (migrations/0005-discovery-sources.sql). The holder of a host does the due work of its
// nodes, indexes and targets, and writes under its lease.

export const hostTable = 'discovery.crawl_host';

export interface HostRow {
  host: string;
  failures: number;
}

export type HostLease = Pick<Claim<HostRow>, 'id' | 'token'>;

/** Call it in every transaction that writes a result: it throws if the lease was lost, and locks the host until the end. The weakest lock, so that the lease can be renewed meanwhile. */
export async function holdLease(tx: Transaction, { id, token }: HostLease): Promise<void> {
  const held = await tx.count(sql`select from discovery.crawl_host
    where id = ${id} and lease_token = ${token} for key share`);
  if (held === 0) throw new LeaseLost(hostTable, id);
}

/** The same for many: returns the ids of the hosts whose leases are still held. */
export function keepLeases(tx: Transaction, leases: readonly HostLease[]) {
  return lockHosts(tx, leases, sql`key share`);
}

export async function hostId(tx: Transaction, host: string) {
  await makeHosts(tx, [host]);
  return tx.value<number>(sql`select id from discovery.crawl_host where host = ${host}`);
}

export async function makeHosts(tx: Transaction, hosts: readonly string[]): Promise<void> {
  await tx.query(sql`
    insert into discovery.crawl_host (host) select distinct host from unnest(${hosts}::text[]) as host order by host
    on conflict (host) do nothing`);
}

/** Work of these hosts has become due, or will at this time of the database's clock; hosts that rest are not woken. */
export async function wakeHosts(tx: Transaction, ids: readonly number[], at?: Date): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(sql`
    update discovery.crawl_host set due_at = least(due_at, greatest(coalesce(${at}, now()), rest_until))
    where id in (select id from discovery.crawl_host where id = any (${[...new Set(ids)]}) order by id for no key update)`);
  tx.hint(hostTable);
}

/** Result of the work at a host: consecutive failures to reach it, and how long it rests. */
export interface HostState {
  failures: number;
  restMs: number | null;
}

/** The ids of the hosts whose leases are still held; they are locked until the transaction ends. */
export function holdLeases(tx: Transaction, leases: readonly HostLease[]) {
  return lockHosts(tx, leases, sql`no key update`);
}

async function lockHosts(tx: Transaction, leases: readonly HostLease[], lock: Sql): Promise<Set<number>> {
  const held = await tx.column<number>(sql`select host.id from discovery.crawl_host as host
      join ${heldBy(leases)} on host.id = held.id and lease_token = token
    order by host.id for ${lock} of host`);
  return new Set(held);
}

/** Gives back hosts whose leases are held: each is due with its first work, but not before the end of its rest. */
export async function giveBackHosts(
  tx: Transaction,
  hosts: readonly { claim: Claim<HostRow>; state: HostState }[],
): Promise<void> {
  if (hosts.length === 0) return;
  const firstDue = [sql`crawl_node`, sql`crawl_index`, sql`crawl_target`].map(
    (table) =>
      sql`(select min(due_at) from discovery.${table} where host_id = host.id and due_at is not null)`,
  );
  const given = hosts.map(({ claim: { id }, state }) => ({ id, ...state }));
  await tx.query(sql`with done as (
      select host.id, given.failures, ${dueIn(sql`"restMs"`)} as rest_until, least(${join(firstDue, ', ')}) as first_due
      from discovery.crawl_host as host
        join jsonb_to_recordset(${JSON.stringify(given)}) as given (id bigint, failures integer, "restMs" float8) using (id)
    )
    update discovery.crawl_host as host
    set failures = done.failures, rest_until = done.rest_until, attempts = 0, lease_token = null, leased_until = null,
      due_at = ${dueAfter(sql`case when first_due is not null then greatest(first_due, done.rest_until) end`)}
    from done where host.id = done.id`);
  for (const { claim } of hosts) markSettled(claim);
}
