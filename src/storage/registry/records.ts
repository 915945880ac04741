import type { RecordState } from '../../protocol/registry-record.ts';
import type { Queryable } from '../database.ts';
import { deleteBefore } from '../delete-in-batches.ts';
import type { Subscriber } from './participants.ts';

/**
 * Reading the registry: one record is one key, together with what is known of its participant.
 *
 * The present is read from the tables themselves, the past from the versions that their triggers keep (migrations/0002-registry.sql).
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
  /** Counts from 1. */
  version: number;
  /** Since when the record reads like this. */
  updatedAt: Date;
}

/** Which version of a record: the present one where neither is given. */
export interface AtVersion {
  version?: number;
  asOn?: Date;
}

export function findKeyRecord(
  database: Queryable,
  { namespace, registryName }: Subscriber,
  recordId: string,
  { version, asOn }: AtVersion = {},
): Promise<KeyRecord | undefined> {
  const isPast = version !== undefined || asOn !== undefined;
  return database.first<KeyRecord>(
    isPast
      ? `select ${columns} from registry.record_version r
          where namespace = $1 and registry_name = $2 and record_id = $3
            and ($4::integer is null or version = $4) and ($5::timestamptz is null or recorded_at <= $5)
          order by version desc limit 1`
      : `select ${columns} from ${present} where namespace = $1 and registry_name = $2 and record_id = $3`,
    [namespace, registryName, recordId, ...(isPast ? [version ?? null, asOn ?? null] : [])],
  );
}

/** What a list is narrowed to, and how it is ordered. */
export interface ListFilter {
  state?: RecordState | 'inactive';
  /** A part of the name, in any case. */
  name?: string;
  /** When it was changed last. */
  from?: Date;
  to?: Date;
  order: (typeof listOrders)[number];
}

export const listOrders = ['name', 'id', 'date', 'status'] as const;

/** The records under a pair of names: the keys of the participant with that identity, and of the members of the network with that networkId. */
export async function listKeyRecords(
  database: Queryable,
  { namespace, registryName }: Subscriber,
  page: { limit: number; offset: number },
  { asOn, now, filter: { state, name, from, to, order } }: { asOn?: Date; now: Date; filter: ListFilter },
): Promise<{ records: KeyRecord[]; total: number }> {
  const listed = asOn === undefined ? listedNow : listedAsOn;
  const matching = `(select * from ${listed}) listed
    where ($4::text is null or ${stateAt} = $4) and ($5::text is null or strpos(lower(record_id), lower($5)) > 0)
      and ($6::timestamptz is null or recorded_at >= $6) and ($7::timestamptz is null or recorded_at <= $7)`;
  const asked = [namespace, registryName, asOn ?? now, state, name, from, to];
  const [records, total] = await Promise.all([
    database.rows<KeyRecord>(
      `select ${columns} from ${matching}
        order by ${recordOrders[order]} namespace, registry_name, record_id limit $8 offset $9`,
      [...asked, page.limit, page.offset],
    ),
    database.value<number>(`select count(*) from ${matching}`, asked),
  ]);
  return { records, total };
}

/** Every key of every participant, or of one. */
export function listParticipants(database: Queryable, subscriber?: Subscriber) {
  return database.rows<KeyRecord>(
    `select ${columns} from ${present} where $1::text is null or (namespace = $1 and registry_name = $2)
      order by namespace, registry_name, created_at, record_id`,
    [subscriber?.namespace ?? null, subscriber?.registryName ?? null],
  );
}

/** The newest first. */
export function listVersions(
  database: Queryable,
  { namespace, registryName }: Subscriber,
  recordId: string,
  page: { limit: number; offset: number },
) {
  return database.column<number>(
    `select version from registry.record_version
      where namespace = $1 and registry_name = $2 and record_id = $3
      order by version desc limit $4 offset $5`,
    [namespace, registryName, recordId, page.limit, page.offset],
  );
}

/** One registry of a namespace: that of a participant's own keys, or a network. */
export interface NamedRegistry {
  registryName: string;
  records: number;
  createdAt: Date;
  updatedAt: Date;
}

/** The registries of a namespace, or one of them, by name. They exist because records are in them. */
export function listRegistries(
  database: Queryable,
  namespace: string,
  { registryName, asOn }: { registryName?: string; asOn?: Date } = {},
) {
  return database.rows<NamedRegistry>(
    `with records as (${asOn === undefined ? inNamespaceNow : inNamespaceAsOn}),
     listed as (
       select registry_name as listed_in, r.* from records r where namespace = $1
       union
       select split_part(network, '/', 2), r.* from records r, unnest(network_memberships) network
        where split_part(network, '/', 1) = $1
     )
     select listed_in as "registryName", count(*)::integer as records, min(created_at) as "createdAt",
            max(recorded_at) as "updatedAt"
       from listed where $2::text is null or listed_in = $2 group by listed_in order by listed_in`,
    [namespace, registryName ?? null, ...(asOn === undefined ? [] : [asOn])],
  );
}

const columns = `
  namespace, registry_name as "registryName", record_id as "recordId", subscriber_id as "subscriberId", url, type, domain,
  countries, public_key as "publicKey", state, valid_from as "validFrom", valid_until as "validUntil", ttl_seconds as "ttlSeconds",
  catalog_index_urls as "catalogIndexUrls", network_memberships as "networkMemberships", created_at as "createdAt", version,
  recorded_at as "updatedAt"`;

const present = `registry.current_record r cross join lateral (
  select v.version, v.recorded_at from registry.record_version v
   where v.namespace = r.namespace and v.registry_name = r.registry_name and v.record_id = r.record_id
   order by v.version desc limit 1) last`;

/** As it is shown: a live key whose time is over reads as expired. */
const stateAt = "case when state = 'live' and valid_until < $3::timestamptz then 'expired' else state end";

const recordOrders: Record<ListFilter['order'], string> = {
  name: '',
  id: 'record_id,',
  date: 'recorded_at desc,',
  status: `${stateAt},`,
};

/** One set, and not a condition with `or`, for which all keys would be read. */
const listedNow = `${present} where (namespace, registry_name) in
  (select $1, $2 union select namespace, registry_name from registry.membership where network_id = $1 || '/' || $2)`;

/** Participants that were ever members are found by an index; then the version of that moment decides. */
const listedAsOn = `(
  select distinct on (namespace, registry_name, record_id) * from registry.record_version
   where recorded_at <= $3 and ((namespace = $1 and registry_name = $2) or (namespace, registry_name) in
         (select namespace, registry_name from registry.record_version where network_memberships @> array[$1 || '/' || $2]))
   order by namespace, registry_name, record_id, version desc) r
  where (namespace = $1 and registry_name = $2) or network_memberships @> array[$1 || '/' || $2]`;

const inNamespaceNow = `select r.*, last.recorded_at from ${present} where namespace = $1 or (namespace, registry_name) in
  (select namespace, registry_name from registry.membership where starts_with(network_id, $1 || '/'))`;

const inNamespaceAsOn = `select distinct on (namespace, registry_name, record_id) * from registry.record_version
  where recorded_at <= $3 order by namespace, registry_name, record_id, version desc`;

/**
 * Forgets versions of records that were followed by another one before a time, and returns how many. The oldest go first: without the one after it, a version
 * would never be found again.
 */
export const purgeVersions = deleteBefore(
  `delete from registry.record_version where ctid = any (array(
     select old.ctid from registry.record_version as next join registry.record_version as old
       on (old.namespace, old.registry_name, old.record_id, old.version) = (next.namespace, next.registry_name, next.record_id, next.version - 1)
     where next.recorded_at < $1 order by next.recorded_at limit $2
   ))`,
);
