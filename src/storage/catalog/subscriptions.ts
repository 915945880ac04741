import { randomUUID } from 'node:crypto';
import type { Subscription, SubscriptionStatus } from '../../protocol/subscription-messages.ts';
import { isSameValue } from '../../rules/same-value.ts';
import type { Queryable, Transaction } from '../database.ts';

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
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`subscriptions of ${owner}`]);
}

/** An ACTIVE subscription of the owner that asks for the same. */
export function findSameSubscription(
  tx: Transaction,
  owner: string,
  { networkIds = [], schemaTypes = [] }: SubscriptionChange,
) {
  // Names stand in no order, and none twice: as many, and all of them, are the same.
  return tx.first<Subscription>(
    `select ${columns} from catalog.subscription
     where owner = $1 and status = 'ACTIVE'
       and cardinality(network_ids) = cardinality($2::text[]) and cardinality(schema_types) = cardinality($3::text[])
       and network_ids @> $2 and schema_types @> $3
     order by created_at, id limit 1`,
    [owner, distinct(networkIds), distinct(schemaTypes)],
  );
}

export interface SubscriptionTotals {
  count: number;
  /** Networks and schema types. */
  names: number;
  /** Of all names together. */
  characters: number;
}

/** Of the ACTIVE subscriptions of an owner. */
export async function sumActiveSubscriptions(tx: Transaction, owner: string): Promise<SubscriptionTotals> {
  const { rows } = await tx.query<SubscriptionTotals>(
    `select count(*), coalesce(sum(cardinality(names)), 0)::integer as names,
       coalesce(sum(length(array_to_string(names, ''))), 0)::integer as characters
     from catalog.subscription cross join lateral (select network_ids || schema_types as names offset 0) as named
     where owner = $1 and status = 'ACTIVE'`,
    [owner],
  );
  return rows[0] ?? { count: 0, names: 0, characters: 0 };
}

/** Which of these networks an ACTIVE subscription names. */
export function findSubscribedNetworks(queryable: Queryable, networkIds: readonly string[]) {
  return queryable.column<string>(
    `select network from unnest($1::text[]) as network
     where exists (select from catalog.subscription where status = 'ACTIVE' and network = any (network_ids))`,
    [networkIds],
  );
}

export async function insertSubscription(
  tx: Transaction,
  owner: string,
  { networkIds = [], schemaTypes = [], schemaIds = [], now }: SubscriptionChange,
): Promise<Subscription> {
  const { rows } = await tx.query<Subscription>(
    `insert into catalog.subscription (id, owner, status, network_ids, schema_types, schema_ids, created_at, updated_at)
     values ($1, $2, 'ACTIVE', $3, $4, $6, $5, $5) returning ${columns}`,
    [randomUUID(), owner, distinct(networkIds), distinct(schemaTypes), now, schemaIds],
  );
  return only(rows);
}

/** Waits for whoever else is changing it, so that what the caller decides by is what it then changes. */
export function lockSubscription(tx: Transaction, id: string) {
  return find(tx, id, 'for no key update');
}

export function findSubscription(queryable: Queryable, id: string) {
  return find(queryable, id, '');
}

/** Sets what is given, keeps the rest, and makes it ACTIVE. */
export async function updateSubscription(
  tx: Transaction,
  id: string,
  { networkIds, schemaTypes, schemaIds, now }: SubscriptionChange,
): Promise<Subscription> {
  const { rows } = await tx.query<Subscription>(
    `update catalog.subscription
     set status = 'ACTIVE', updated_at = $4,
         network_ids = coalesce($2, network_ids), schema_types = coalesce($3, schema_types), schema_ids = coalesce($5, schema_ids)
     where id = $1 returning ${columns}`,
    [id, networkIds && distinct(networkIds), schemaTypes && distinct(schemaTypes), now, schemaIds],
  );
  return only(rows);
}

/** Names all schema types again, whose aliases may be others than when they were subscribed to. */
export async function renameSchemaTypes(
  database: Queryable,
  identify: (schemaTypes: readonly string[]) => string[],
): Promise<void> {
  const { rows } = await database.query<{ id: string; schemaTypes: string[]; schemaIds: string[] }>(
    'select id, schema_types as "schemaTypes", schema_ids as "schemaIds" from catalog.subscription where cardinality(schema_types) > 0',
  );
  for (const { id, schemaTypes, schemaIds } of rows) {
    const names = identify(schemaTypes);
    if (isSameValue(names, schemaIds)) continue;
    await database.query(
      'update catalog.subscription set schema_ids = $3 where id = $1 and schema_types = $2',
      [id, schemaTypes, names],
    );
  }
}

/** An INACTIVE one stays as it is. */
export async function deactivateSubscription(tx: Transaction, id: string, now: Date): Promise<Subscription> {
  const { rows } = await tx.query<Subscription>(
    `update catalog.subscription
     set status = 'INACTIVE', updated_at = case status when 'ACTIVE' then $2 else updated_at end
     where id = $1 returning ${columns}`,
    [id, now],
  );
  return only(rows);
}

/** The SQL of rules/match.ts: whether a row of catalog.subscription asks for a catalog. */
export function subscriptionMatches(catalog: string): string {
  return `(cardinality(subscription.network_ids) = 0 or subscription.network_ids && ${catalog}.visible_to)
    and (cardinality(subscription.schema_types) = 0 or subscription.schema_ids && ${catalog}.schema_types)`;
}

/** Deletes INACTIVE subscriptions of an owner, except for the most recently changed ones. */
export async function purgeInactive(tx: Transaction, owner: string, kept: number): Promise<void> {
  await tx.query(
    `delete from catalog.subscription where id in (
       select id from catalog.subscription where owner = $1 and status = 'INACTIVE' order by updated_at desc, id offset $2
     )`,
    [owner, kept],
  );
}

export interface SubscriptionFilter {
  owner: string;
  status?: SubscriptionStatus;
  id?: string;
  limit: number;
  offset: number;
}

/** The oldest first. */
export async function listSubscriptions(
  queryable: Queryable,
  { owner, status, id, limit, offset }: SubscriptionFilter,
): Promise<{ subscriptions: Subscription[]; total: number }> {
  const matching = `from catalog.subscription
    where owner = $1 and ($2::text is null or status = $2) and ($3::uuid is null or id = $3)`;
  const asked = [owner, status, id];
  const total = await queryable.value<number>(`select count(*) ${matching}`, asked);
  const subscriptions = await queryable.rows<Subscription>(
    `select ${columns} ${matching} order by created_at, id limit $4 offset $5`,
    [...asked, limit, offset],
  );
  return { subscriptions, total };
}

const isoTime = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const columns = `id as "subscriptionId", status, network_ids as "networkIds", schema_types as "schemaTypes",
  ${isoTime('created_at')} as "createdAt", ${isoTime('updated_at')} as "updatedAt"`;

function find(queryable: Queryable, id: string, lock: string) {
  return queryable.first<StoredSubscription>(
    `select owner, ${columns} from catalog.subscription where id = $1 ${lock}`,
    [id],
  );
}

function only(rows: readonly Subscription[]): Subscription {
  if (rows[0] === undefined) throw new Error('the subscription is gone');
  return rows[0];
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
