import type { RecordState } from '../protocol/registry-record.ts';
import type { Queryable } from './database.ts';
import type { Subscriber } from './participants.ts';

/** Reading the registry: one record is one key, together with what is known of its participant. */
export interface KeyRecord extends Subscriber {
  recordId: string;
  subscriberId: string;
  url: string | null;
  type: string | null;
  domain: string | null;
  publicKey: string;
  state: RecordState;
  validFrom: Date | null;
  validUntil: Date | null;
  ttlSeconds: number;
  catalogIndexUrls: string[];
  networkMemberships: string[];
  createdAt: Date;
  updatedAt: Date;
}

export async function findKeyRecord(
  database: Queryable,
  { namespace, registryName }: Subscriber,
  recordId: string,
): Promise<KeyRecord | undefined> {
  const { rows } = await database.query<KeyRecord>(
    `${selectKeyRecords} where namespace = $1 and registry_name = $2 and record_id = $3`,
    [namespace, registryName, recordId],
  );
  return rows[0];
}

/**
 * The records under a pair of names: the keys of the participant that has it as its identity, and the keys of the
 * members of the network that has it as its networkId.
 */
export async function listKeyRecords(
  database: Queryable,
  { namespace, registryName }: Subscriber,
  page: { limit: number; offset: number },
): Promise<{ records: KeyRecord[]; total: number }> {
  const where = `where (namespace = $1 and registry_name = $2) or (namespace, registry_name) in
    (select namespace, registry_name from registry.membership where network_id = $1 || '/' || $2)`;
  const [{ rows: records }, { rows: counted }] = await Promise.all([
    database.query<KeyRecord>(
      `${selectKeyRecords} ${where} order by namespace, registry_name, record_id limit $3 offset $4`,
      [namespace, registryName, page.limit, page.offset],
    ),
    database.query<{ total: number }>(
      `select count(*)::integer as total from registry.signing_key ${where}`,
      [namespace, registryName],
    ),
  ]);
  return { records, total: counted[0]?.total ?? 0 };
}

/** Every key of every participant, or of one. */
export async function listParticipants(database: Queryable, subscriber?: Subscriber): Promise<KeyRecord[]> {
  const { rows } = await database.query<KeyRecord>(
    `${selectKeyRecords} where $1::text is null or (namespace = $1 and registry_name = $2)
      order by namespace, registry_name, k.created_at, record_id`,
    [subscriber?.namespace ?? null, subscriber?.registryName ?? null],
  );
  return rows;
}

/** A record changes with its participant as well as with its key: the later of the two times is the record's. */
const selectKeyRecords = `
  select k.namespace, k.registry_name as "registryName", k.record_id as "recordId", p.subscriber_id as "subscriberId",
         p.url, p.type, p.domain, k.public_key as "publicKey", k.state, k.valid_from as "validFrom",
         k.valid_until as "validUntil", k.ttl_seconds as "ttlSeconds", p.catalog_index_urls as "catalogIndexUrls",
         array(select m.network_id from registry.membership m
                where m.namespace = k.namespace and m.registry_name = k.registry_name
                order by m.network_id) as "networkMemberships",
         k.created_at as "createdAt", greatest(k.updated_at, p.updated_at) as "updatedAt"
    from registry.signing_key k join registry.participant p using (namespace, registry_name)`;
