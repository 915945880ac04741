import pg from 'pg';
import type { Database, Queryable, Transaction } from '../database.ts';
import { raw, type Sql, sql } from '../sql.ts';
import { waitForLock } from '../wait-for-lock.ts';
import { type Claim, dueIn, leaseMs, matching, tableName } from './leases.ts';

// Claims of due rows (see leases.ts), optionally with a limit on concurrent rows of one group.

export interface ClaimOptions {
  limit: number;
  leaseMs?: number;
  where?: Record<string, unknown>;
  /** The columns of `row`; all when omitted. */
  columns?: readonly string[];
  /** At most `limit` rows with the same value of `column` (not null) in progress, over all processes. Requires indexes on (`where`, `column`, due_at) and on leased_until. */
  perGroup?: { column: string; limit: number };
  /** Tokens of leases that are still held, but no longer count for their groups. */
  leavers?: readonly string[];
  /** Only these groups, or all others. */
  groups?: GroupChoice;
}

export type GroupChoice = { only: readonly string[] } | { except: readonly string[] };

/** Claims due rows, the longest due first; nobody else gets them until their leases end. `left`: there may be more due rows, because they exceed the limit, or their groups had no slot. */
export async function takeDue<Row extends object>(database: Database, table: string, options: ClaimOptions) {
  const { perGroup, limit } = options;
  if (perGroup === undefined) {
    const claims = await claim<Row>(database, table, options, longestDue);
    return { claims, left: claims.length === limit };
  }
  const due = await countDue(database, table, options, limit * rowsSeenPerSlot);
  if (due === 0) return { claims: [], left: false };
  const claims = await database.transaction((tx) => claimWithSlots<Row>(tx, table, options, due));
  return { claims, left: claims.length === limit || claims.length < due };
}

async function claimWithSlots<Row extends object>(
  tx: Transaction,
  table: string,
  options: ClaimOptions,
  due: number,
): Promise<Claim<Row>[]> {
  const { limit } = options;
  // Two simultaneous claims would both find a free slot in a group.
  await waitForLock(tx, `claim ${table}`);
  const claims = await claim<Row>(tx, table, options, longestDueWithSlot);
  if (claims.length === limit || due < limit * rowsSeenPerSlot) return claims;
  // Busy groups fill everything read so far: read further.
  const further = { ...options, limit: limit - claims.length };
  return [...claims, ...(await claim<Row>(tx, table, further, longestDueOfEachGroup))];
}

/** How many due rows are read to fill one slot, before all groups are visited. */
const rowsSeenPerSlot = 8;

async function claim<Row extends object>(
  queryable: Queryable,
  table: string,
  options: ClaimOptions,
  dueIds: (name: Sql, options: ClaimOptions) => Sql,
): Promise<Claim<Row>[]> {
  const name = tableName(table);
  const lease = dueIn(options.leaseMs ?? leaseMs);
  const { rows } = await queryable.query<Claimed>(
    sql`with due as materialized (${dueIds(name, options)})
     update ${name} as work
     set lease_token = gen_random_uuid(), leased_until = ${lease}, due_at = ${lease}, attempts = work.attempts + 1
     from due where work.id = due.id
     returning work.id as "work id", work.lease_token as "work token", work.attempts as "work attempts", now() as "work at", ${columnList(options.columns)}`,
    { prepared: true },
  );
  return rows.map(toClaim<Row>);
}

const isDue = sql`due_at <= now() and (leased_until is null or leased_until <= now())`;

function longestDue(name: Sql, { limit, where }: ClaimOptions): Sql {
  return sql`select id from ${name} where ${isDue} ${matching(where)}
          order by due_at limit ${limit} for update skip locked`;
}

function longestDueWithSlot(name: Sql, options: ClaimOptions): Sql {
  const { limit, perGroup, group } = grouped(options);
  const match = matchingGroups(options);
  return sql`with busy as (${busyGroups(name, group, match, leaving(options))}), seen as (
            select id, due_at, ${group} as value from ${name} where ${isDue} ${match}
            order by due_at limit ${limit * rowsSeenPerSlot}
          ), slotted as (
            select id, due_at, coalesce(busy.rows, 0) + row_number() over (partition by value order by due_at, id) as slot
            from seen left join busy using (value)
          )
          select id from ${name} where id in (
            select id from slotted where slot <= ${perGroup.limit} order by due_at limit ${limit}
          ) and ${isDue} for update skip locked`;
}

/** Walks from group to group through the index, however many rows of each are waiting. */
function longestDueOfEachGroup(name: Sql, options: ClaimOptions): Sql {
  const { limit, perGroup, group } = grouped(options);
  const match = matchingGroups(options);
  return sql`with recursive groups (value) as (
            (select ${group} from ${name} where due_at is not null ${match} order by ${group} limit 1)
            union all
            select (select ${group} from ${name} where due_at is not null ${match} and ${group} > value order by ${group} limit 1)
            from groups where value is not null
          ), busy as (${busyGroups(name, group, match, leaving(options))}), free as (
            select waiting.id from groups left join busy using (value) cross join lateral (
              select id, due_at from ${name} where ${group} = value and ${isDue} ${match}
              order by due_at limit greatest(0, ${perGroup.limit} - coalesce(busy.rows, 0))
            ) as waiting
            order by waiting.due_at limit ${limit}
          )
          select id from ${name} where id in (select id from free) and ${isDue} for update skip locked`;
}

function busyGroups(name: Sql, group: Sql, match: Sql, leaving: Sql): Sql {
  return sql`select ${group} as value, count(*) as rows from ${name} where leased_until > now() ${match} ${leaving} group by ${group}`;
}

function leaving({ leavers = [] }: ClaimOptions): Sql {
  return leavers.length === 0 ? sql`` : sql`and lease_token <> all (${leavers}::uuid[])`;
}

function grouped({ limit, perGroup }: ClaimOptions) {
  if (perGroup === undefined) throw new Error('there is no limit per group');
  return { limit, perGroup, group: raw(pg.escapeIdentifier(perGroup.column)) };
}

function matchingGroups({ where, perGroup, groups }: ClaimOptions): Sql {
  const match = matching(where);
  if (perGroup === undefined || groups === undefined) return match;
  const group = raw(pg.escapeIdentifier(perGroup.column));
  if ('only' in groups) return sql`${match} and ${group} = any (${groups.only})`;
  return groups.except.length === 0 ? match : sql`${match} and ${group} <> all (${groups.except})`;
}

async function countDue(database: Database, table: string, options: ClaimOptions, atMost: number) {
  return database.count(
    sql`select from ${tableName(table)} where ${isDue} ${matchingGroups(options)} limit ${atMost}`,
    { prepared: true },
  );
}

function columnList(columns: readonly string[] | undefined): Sql {
  return raw(columns?.map((column) => `work.${pg.escapeIdentifier(column)}`).join(', ') ?? 'work.*');
}

/** The row also has the lease, under names that no column has. */
function toClaim<Row>({
  'work id': id,
  'work token': token,
  'work attempts': attempts,
  'work at': at,
  ...row
}: Claimed): Claim<Row> {
  return { id, token, attempts, at, row: row as Row };
}

interface Claimed {
  'work id': number;
  'work token': string;
  'work attempts': number;
  'work at': Date;
}
