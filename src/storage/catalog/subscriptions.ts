import { randomUUID } from 'node:crypto';
import type { Subscription, SubscriptionStatus } from '../../protocol/subscription-messages.ts';
import { isSameValue } from '../../rules/same-value.ts';
import type { Queryable, Transaction } from '../database.ts';
import { newRow, type Sql, sql } from '../sql.ts';

// Who wants which catalogs (catalog spec: Subscription). A subscription belongs to the identity that created it.

export interface StoredSubscription extends Subscription {
  owner: string;
}

export interface SubscriptionChange {
  networkIds?: readonly string[];
  schemaTypes?: readonly string[];
  /** All names of the schema types, by which catalogs are matched. */
  schemaIds?: readonly string[];
  now: Date;
}

/** Whoever adds to the ACTIVE subscriptions of an owner does so alone: two at the same moment would both find none of the kind, and room for one. */
export async function lockSubscriptionsOf(tx: Transaction, owner: string): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended(${`subscriptions of ${owner}`}, 0))`);
}

export function findSameSubscription(
  tx: Transaction,
  owner: string,
  { networkIds = [], schemaTypes = [] }: SubscriptionChange,
) {
  // Names stand in no order, and none twice: as many, and all of them, are the same.
  return tx.first<Subscription>(sql`select ${columns} from catalog.subscription
    where owner = ${owner} and status = 'ACTIVE'
      and cardinality(network_ids) = cardinality(${distinct(networkIds)}::text[])
        and cardinality(schema_types) = cardinality(${distinct(schemaTypes)}::text[])
      and network_ids @> ${distinct(networkIds)} and schema_types @> ${distinct(schemaTypes)}
    order by created_at, id limit 1`);
}

export interface SubscriptionTotals {
  count: number;
  names: number;
  characters: number;
}

export async function sumActiveSubscriptions(tx: Transaction, owner: string): Promise<SubscriptionTotals> {
  return tx.one<SubscriptionTotals>(sql`select count(*), coalesce(sum(cardinality(names)), 0)::integer as names,
      coalesce(sum(length(array_to_string(names, ''))), 0)::integer as characters
    from catalog.subscription cross join lateral (select network_ids || schema_types as names offset 0) as named
    where owner = ${owner} and status = 'ACTIVE'`);
}

export function findSubscribedNetworks(queryable: Queryable, networkIds: readonly string[]) {
  return queryable.column<string>(sql`select network from unnest(${networkIds}::text[]) as network
    where exists (select from catalog.subscription where status = 'ACTIVE' and network = any (network_ids))`);
}

export function insertSubscription(
  tx: Transaction,
  owner: string,
  { networkIds = [], schemaTypes = [], schemaIds = [], now }: SubscriptionChange,
) {
  const names = { networkIds: distinct(networkIds), schemaTypes: distinct(schemaTypes), schemaIds };
  const row = { id: randomUUID(), owner, status: 'ACTIVE', ...names, createdAt: now, updatedAt: now };
  return tx.one<Subscription>(sql`insert into catalog.subscription ${newRow(row)} returning ${columns}`);
}

/** Waits for whoever else is changing it, so that what the caller decides by is what it then changes. */
export function lockSubscription(tx: Transaction, id: string) {
  return findSubscription(tx, id, sql`for no key update`);
}

export function findSubscription(queryable: Queryable, id: string, lock = sql``) {
  return queryable.first<StoredSubscription>(sql`select owner, ${columns} from catalog.subscription
    where id = ${id} ${lock}`);
}

export function updateSubscription(
  tx: Transaction,
  id: string,
  { networkIds, schemaTypes, schemaIds, now }: SubscriptionChange,
) {
  return tx.one<Subscription>(sql`update catalog.subscription
    set status = 'ACTIVE', updated_at = ${now}, network_ids = coalesce(${networkIds && distinct(networkIds)}, network_ids),
      schema_types = coalesce(${schemaTypes && distinct(schemaTypes)}, schema_types), schema_ids = coalesce(${schemaIds}, schema_ids)
    where id = ${id} returning ${columns}`);
}

/** Names all schema types again, whose aliases may be others than when they were subscribed to. */
export async function renameSchemaTypes(
  database: Queryable,
  identify: (schemaTypes: readonly string[]) => string[],
): Promise<void> {
  const rows = await database.rows<{ id: string; schemaTypes: string[]; schemaIds: string[] }>(sql`
    select id, schema_types as "schemaTypes", schema_ids as "schemaIds" from catalog.subscription where cardinality(schema_types) > 0`);
  for (const { id, schemaTypes, schemaIds } of rows) {
    const names = identify(schemaTypes);
    if (isSameValue(names, schemaIds)) continue;
    await database.query(sql`update catalog.subscription set schema_ids = ${names}
      where id = ${id} and schema_types = ${schemaTypes}`);
  }
}

/** An INACTIVE one stays as it is. */
export function deactivateSubscription(tx: Transaction, id: string, now: Date) {
  return tx.one<Subscription>(sql`update catalog.subscription
    set status = 'INACTIVE', updated_at = case status when 'ACTIVE' then ${now} else updated_at end
    where id = ${id} returning ${columns}`);
}

/** The SQL of rules/match.ts: whether a row of catalog.subscription asks for a catalog. */
export function subscriptionMatches(catalog: Sql): Sql {
  return sql`(cardinality(subscription.network_ids) = 0 or subscription.network_ids && ${catalog}.visible_to)
    and (cardinality(subscription.schema_types) = 0 or subscription.schema_ids && ${catalog}.schema_types)`;
}

/** Deletes INACTIVE subscriptions of an owner, except for the most recently changed ones. */
export async function purgeInactive(tx: Transaction, owner: string, kept: number): Promise<void> {
  await tx.query(sql`delete from catalog.subscription where id in (
      select id from catalog.subscription where owner = ${owner} and status = 'INACTIVE' order by updated_at desc, id offset ${kept}
    )`);
}

interface SubscriptionFilter {
  owner: string;
  status?: SubscriptionStatus;
  id?: string;
  limit: number;
  offset: number;
}

export async function listSubscriptions(
  queryable: Queryable,
  { owner, status, id, limit, offset }: SubscriptionFilter,
): Promise<{ subscriptions: Subscription[]; total: number }> {
  const matching = sql`from catalog.subscription
    where owner = ${owner} and (${status}::text is null or status = ${status}) and (${id}::uuid is null or id = ${id})`;
  const total = await queryable.value<number>(sql`select count(*) ${matching}`);
  const subscriptions = await queryable.rows<Subscription>(sql`select ${columns} ${matching}
    order by created_at, id limit ${limit} offset ${offset}`);
  return { subscriptions, total };
}

const isoTime = (column: Sql) => sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const columns = sql`id as "subscriptionId", status, network_ids as "networkIds", schema_types as "schemaTypes",
  ${isoTime(sql`created_at`)} as "createdAt", ${isoTime(sql`updated_at`)} as "updatedAt"`;

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
