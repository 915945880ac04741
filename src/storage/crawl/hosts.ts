import type { Transaction } from '../database.ts';
import { type Claim, LeaseLost } from '../work/due-work.ts';
import { dueAfter, dueIn, markSettled } from '../work/leases.ts';

// Hosts that are crawled: the rows of due work of the crawler (migrations/0005-discovery-sources.sql). Whoever holds a host does what is due of its
// nodes, indexes and targets, and writes under its lease.

export const hostTable = 'discovery.crawl_host';

export interface HostRow {
  host: string;
  failures: number;
}

/** The lease on a host, while its work is done. */
export type HostLease = Pick<Claim<HostRow>, 'id' | 'token'>;

/** Call it in every transaction that writes a result: it throws when the lease was lost, and keeps others from the host until the end. The weakest lock, so that the lease can be prolonged meanwhile. */
export async function holdLease(tx: Transaction, { id, token }: HostLease): Promise<void> {
  const { rowCount } = await tx.query(
    'select from discovery.crawl_host where id = $1 and lease_token = $2 for key share',
    [id, token],
  );
  if (rowCount === 0) throw new LeaseLost(hostTable, id);
}

/** The same for many: the ids of the hosts whose leases are still held. */
export async function keepLeases(tx: Transaction, leases: readonly HostLease[]): Promise<Set<number>> {
  return lockHosts(tx, leases, 'key share');
}

/** The id of a host, which is made where it is not known. */
export async function hostId(tx: Transaction, host: string) {
  await makeHosts(tx, [host]);
  return tx.value<number>('select id from discovery.crawl_host where host = $1', [host]);
}

/** Makes those that are not known. */
export async function makeHosts(tx: Transaction, hosts: readonly string[]): Promise<void> {
  await tx.query(
    `insert into discovery.crawl_host (host) select distinct host from unnest($1::text[]) as host order by host
     on conflict (host) do nothing`,
    [hosts],
  );
}

/** Something of these hosts has become due, or does at this time of the database's; one that rests is left in peace. */
export async function wakeHosts(tx: Transaction, ids: readonly number[], at?: Date): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `update discovery.crawl_host set due_at = least(due_at, greatest(coalesce($2, now()), rest_until))
     where id in (select id from discovery.crawl_host where id = any ($1) order by id for no key update)`,
    [[...new Set(ids)], at],
  );
  tx.hint(hostTable);
}

/** What came of the work at a host: how often in a row it could not be reached, and for how long it is left in peace. */
export interface HostState {
  failures: number;
  restMs: number | null;
}

/** The ids of the hosts whose leases are still held; nobody else gets them until the transaction ends. */
export async function holdLeases(tx: Transaction, leases: readonly HostLease[]): Promise<Set<number>> {
  return lockHosts(tx, leases, 'no key update');
}

async function lockHosts(tx: Transaction, leases: readonly HostLease[], lock: 'key share' | 'no key update') {
  const held = await tx.column<number>(
    `select host.id from discovery.crawl_host as host
       join unnest($1::bigint[], $2::uuid[]) as lease (id, token) on host.id = lease.id and lease_token = token
     order by host.id for ${lock} of host`,
    [leases.map(({ id }) => id), leases.map(({ token }) => token)],
  );
  return new Set(held);
}

/** Gives hosts back whose leases are held: each is due when the first thing there is, but not before it has rested. */
export async function giveBackHosts(
  tx: Transaction,
  hosts: readonly { claim: Claim<HostRow>; state: HostState }[],
): Promise<void> {
  if (hosts.length === 0) return;
  const firstDue = ['crawl_node', 'crawl_index', 'crawl_target'].map(
    (table) => `(select min(due_at) from discovery.${table} where host_id = host.id and due_at is not null)`,
  );
  await tx.query(
    `with done as (
       select host.id, given.failures, ${dueIn('given.rest_ms')} as rest_until, least(${firstDue.join(', ')}) as first_due
       from discovery.crawl_host as host
         join unnest($1::bigint[], $2::integer[], $3::float8[]) as given (id, failures, rest_ms) using (id)
     )
     update discovery.crawl_host as host
     set failures = done.failures, rest_until = done.rest_until, attempts = 0, lease_token = null, leased_until = null,
       due_at = ${dueAfter('case when first_due is not null then greatest(first_due, done.rest_until) end')}
     from done where host.id = done.id`,
    [
      hosts.map(({ claim }) => claim.id),
      hosts.map(({ state }) => state.failures),
      hosts.map(({ state }) => state.restMs),
    ],
  );
  for (const { claim } of hosts) markSettled(claim);
}
