import type { RecordState } from '../../protocol/registry-record.ts';
import type { Queryable } from '../database.ts';
import { deleteInBatches } from '../delete-in-batches.ts';
import { type Sql, sql } from '../sql.ts';
import { isOf, type Subscriber } from './participants.ts';

/**
 * Reads the registry: one record is one key, together with the facts about its participant.
 *
 * The present is read from the tables themselves, the past from the versions that their triggers store (migrations/0002-registry.sql).
 */
export interface KeyRecord extends Subscriber {
  recordId: string;
  subscriberId: string;
  url: string | null;
  type: string | null;
  domain: string | null;
  countries: string[] | null;
  publicKey: string;
  state: RecordState;
  validFrom: Date | null;
  validUntil: Date | null;
  ttlSeconds: number;
  catalogIndexUrls: string[];
  networkMemberships: string[];
  createdAt: Date;
  /** Starts at 1. */
  version: number;
  /** When the record got this content. */
  updatedAt: Date;
}

/** Which version of a record: the present one by default. */
export interface AtVersion {
  version?: number;
  asOn?: Date;
}

export function findKeyRecord(
  database: Queryable,
  subscriber: Subscriber,
  recordId: string,
  { version, asOn }: AtVersion = {},
): Promise<KeyRecord | undefined> {
  const isRecord = sql`${isOf(subscriber)} and record_id = ${recordId}`;
  return database.first<KeyRecord>(
    version === undefined && asOn === undefined
      ? sql`select ${columns} from ${present} where ${isRecord}`
      : sql`select ${columns} from registry.record_version r
         where ${isRecord} and (${version}::integer is null or version = ${version})
           and (${asOn}::timestamptz is null or recorded_at <= ${asOn})
         order by version desc limit 1`,
  );
}

export interface ListFilter {
  state?: RecordState | 'inactive';
  /** A part of the name, in any case. */
  name?: string;
  from?: Date;
  to?: Date;
  order: (typeof listOrders)[number];
}

export const listOrders = ['name', 'id', 'date', 'status'] as const;

/** The records under a pair of names: the keys of the participant with that identity, and of the members of the network with that networkId. */
export async function listKeyRecords(
  database: Queryable,
  subscriber: Subscriber,
  page: { limit: number; offset: number },
  { asOn, now, filter: { state, name, from, to, order } }: { asOn?: Date; now: Date; filter: ListFilter },
): Promise<{ records: KeyRecord[]; total: number }> {
  const listed = asOn === undefined ? listedNow(subscriber) : listedAsOn(subscriber, asOn);
  // As shown: a live key past its validity is expired.
  const shown = sql`case when state = 'live' and valid_until < ${asOn ?? now}::timestamptz then 'expired' else state end`;
  const matching = sql`(select * from ${listed}) listed
    where (${state}::text is null or ${shown} = ${state}) and (${name}::text is null or strpos(lower(record_id), lower(${name})) > 0)
      and (${from}::timestamptz is null or recorded_at >= ${from}) and (${to}::timestamptz is null or recorded_at <= ${to})`;
  const first = { name: sql``, id: sql`record_id,`, date: sql`recorded_at desc,`, status: sql`${shown},` };
  const [records, total] = await Promise.all([
    database.rows<KeyRecord>(sql`select ${columns} from ${matching}
      order by ${first[order]} namespace, registry_name, record_id limit ${page.limit} offset ${page.offset}`),
    database.value<number>(sql`select count(*) from ${matching}`),
  ]);
  return { records, total };
}

export function listParticipants(database: Queryable, subscriber?: Subscriber) {
  return database.rows<KeyRecord>(sql`select ${columns} from ${present}
    where ${subscriber ? isOf(subscriber) : sql`true`} order by namespace, registry_name, created_at, record_id`);
}

export function listVersions(
  database: Queryable,
  subscriber: Subscriber,
  recordId: string,
  page: { limit: number; offset: number },
) {
  return database.column<number>(sql`select version from registry.record_version
    where ${isOf(subscriber)} and record_id = ${recordId} order by version desc limit ${page.limit} offset ${page.offset}`);
}

/** One registry of a namespace: that of a participant's own keys, or a network. */
export interface NamedRegistry {
  registryName: string;
  records: number;
  createdAt: Date;
  updatedAt: Date;
}

/** The registries of a namespace, or one of them, by name. They exist because they contain records. */
export function listRegistries(
  database: Queryable,
  namespace: string,
  { registryName, asOn }: { registryName?: string; asOn?: Date } = {},
) {
  const records =
    asOn === undefined
      ? sql`select r.*, last.recorded_at from ${present} where namespace = ${namespace} or (namespace, registry_name) in
          (select namespace, registry_name from registry.membership where starts_with(network_id, ${namespace} || '/'))`
      : sql`select distinct on (namespace, registry_name, record_id) * from registry.record_version
          where recorded_at <= ${asOn} order by namespace, registry_name, record_id, version desc`;
  return database.rows<NamedRegistry>(sql`with records as (${records}),
    listed as (
      select registry_name as listed_in, r.* from records r where namespace = ${namespace}
      union
      select split_part(network, '/', 2), r.* from records r, unnest(network_memberships) network
       where split_part(network, '/', 1) = ${namespace}
    )
    select listed_in as "registryName", count(*)::integer as records, min(created_at) as "createdAt",
           max(recorded_at) as "updatedAt"
      from listed where ${registryName}::text is null or listed_in = ${registryName} group by listed_in order by listed_in`);
}

const columns = sql`
  namespace, registry_name as "registryName", record_id as "recordId", subscriber_id as "subscriberId", url, type, domain,
  countries, public_key as "publicKey", state, valid_from as "validFrom", valid_until as "validUntil", ttl_seconds as "ttlSeconds",
  catalog_index_urls as "catalogIndexUrls", network_memberships as "networkMemberships", created_at as "createdAt", version,
  recorded_at as "updatedAt"`;

const present = sql`registry.current_record r cross join lateral (
  select v.version, v.recorded_at from registry.record_version v
   where v.namespace = r.namespace and v.registry_name = r.registry_name and v.record_id = r.record_id
   order by v.version desc limit 1) last`;

/** One set instead of a condition with `or`, which would read all keys. */
function listedNow({ namespace, registryName }: Subscriber): Sql {
  return sql`${present} where (namespace, registry_name) in (
    select ${namespace}, ${registryName}
    union select namespace, registry_name from registry.membership where network_id = ${`${namespace}/${registryName}`}
  )`;
}

/** An index finds participants that were ever members; then the version of that moment decides. */
function listedAsOn(subscriber: Subscriber, asOn: Date): Sql {
  const isMember = sql`network_memberships @> ${[`${subscriber.namespace}/${subscriber.registryName}`]}`;
  return sql`(
    select distinct on (namespace, registry_name, record_id) * from registry.record_version
    where recorded_at <= ${asOn} and (${isOf(subscriber)} or (namespace, registry_name) in
      (select namespace, registry_name from registry.record_version where ${isMember}))
    order by namespace, registry_name, record_id, version desc
  ) r where ${isOf(subscriber)} or ${isMember}`;
}

/**
 * Deletes versions of records that were superseded before a time, and returns how many. The oldest go first: without its successor, a version would
 * never be found again.
 */
export function purgeVersions(queryable: Queryable, before: Date): Promise<number> {
  const statement = (limit: number) => sql`delete from registry.record_version where ctid = any (array(
      select old.ctid from registry.record_version as next join registry.record_version as old
        on (old.namespace, old.registry_name, old.record_id, old.version) = (next.namespace, next.registry_name, next.record_id, next.version - 1)
      where next.recorded_at < ${before} order by next.recorded_at limit ${limit}
    ))`;
  return deleteInBatches(queryable, statement);
}
