/**
 * The registry role's participants: their keys, networks and catalog index addresses.
 *
 * Operators (command line) and `signpost up` write them; over HTTP the registry is read-only.
 */
import type { RecordState } from '../../protocol/registry-record.ts';
import type { Database, Queryable, Transaction } from '../database.ts';
import { newRow, type Sql, sql } from '../sql.ts';

/** The two halves of an identity. */
export interface Subscriber {
  namespace: string;
  registryName: string;
}

export interface Registration extends Subscriber {
  /** `details.subscriber_id` in the record. */
  subscriberId: string;
  url?: string;
  type?: string;
  domain?: string;
  countries?: readonly string[];
  networkIds?: readonly string[];
  key: KeyRegistration;
  /** Replaces the public key that has this recordId, even a revoked one. */
  replaceKey?: boolean;
}

export interface KeyRegistration {
  recordId: string;
  publicKey: string;
  state?: RecordState;
  validFrom?: Date;
  validUntil?: Date;
  /** How long readers may cache the record, and so how long a revocation may take to reach them. */
  ttlSeconds?: number;
}

/** Registers a participant with one key, or updates its registration; omitted members stay unchanged. */
export async function registerParticipant(database: Database, registration: Registration): Promise<void> {
  await database.transaction(async (tx) => {
    const { namespace, registryName, subscriberId, url, type, domain, countries } = registration;
    const row = newRow({ namespace, registryName, subscriberId, url, type, domain, countries });
    await tx.query(sql`insert into registry.participant as p ${row}
      on conflict (namespace, registry_name) do update
        set subscriber_id = excluded.subscriber_id, url = coalesce(excluded.url, p.url),
            type = coalesce(excluded.type, p.type), domain = coalesce(excluded.domain, p.domain),
            countries = coalesce(excluded.countries, p.countries)`);
    await putKey(tx, registration, registration.key, registration.replaceKey ?? false);
    for (const networkId of registration.networkIds ?? [])
      await insertMembership(tx, registration, networkId);
  });
}

export function addKey(database: Database, subscriber: Subscriber, key: KeyRegistration): Promise<void> {
  return changeParticipant(database, subscriber, (tx) => putKey(tx, subscriber, key, false));
}

/** Sets the state of one key, or of all keys of the participant; returns the changed recordIds. Revocation is permanent: no slip of the operator brings a stolen key back. */
export async function setKeyState(
  database: Database,
  subscriber: Subscriber,
  state: RecordState,
  recordId?: string,
): Promise<string[]> {
  return database.transaction(async (tx) => {
    // Every writer locks the participant first: at commit its versions are written under the same lock.
    await tx.query(sql`select from registry.participant where ${isOf(subscriber)} for no key update`);
    const keys = await tx.rows<{ record_id: string; state: RecordState }>(sql`
      select record_id, state from registry.signing_key
      where ${isOf(subscriber)} and (${recordId}::text is null or record_id = ${recordId}) order by record_id for update`);
    if (keys.length === 0) throw unknown(subscriber, recordId);
    const movable = keys
      .filter((key) => key.state !== state && key.state !== 'revoked')
      .map((key) => key.record_id);
    if (recordId !== undefined && state !== 'revoked' && keys[0]?.state === 'revoked') {
      throw revokedForEver(recordId);
    }
    await tx.query(sql`update registry.signing_key set state = ${state}
      where ${isOf(subscriber)} and record_id = any(${movable}::text[])`);
    return movable;
  });
}

export function addMembership(database: Database, subscriber: Subscriber, networkId: string): Promise<void> {
  return changeParticipant(database, subscriber, (tx) => insertMembership(tx, subscriber, networkId));
}

export function removeMembership(database: Database, subscriber: Subscriber, networkId: string) {
  return changeParticipant(database, subscriber, (tx) =>
    tx.has(sql`delete from registry.membership where ${isOf(subscriber)} and network_id = ${networkId}`),
  );
}

/** Sets `meta.catalog_index_urls` (self-hosted spec: Subscriber record pointer): the only pointer that a crawler has. */
export async function setCatalogIndexUrls(
  database: Database,
  subscriber: Subscriber,
  urls: readonly string[],
): Promise<void> {
  const updated = await database.count(sql`update registry.participant set catalog_index_urls = ${urls}
    where ${isOf(subscriber)}`);
  if (updated === 0) throw unknown(subscriber);
}

export class RegistrationRefused extends Error {
  override readonly name = 'RegistrationRefused';
  readonly code: 'unknown-subscriber' | 'unknown-key' | 'key-taken' | 'key-revoked';

  constructor(code: RegistrationRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export const defaultTtlSeconds = 300;

async function putKey(tx: Queryable, subscriber: Subscriber, key: KeyRegistration, replace: boolean) {
  const { namespace, registryName } = subscriber;
  const known = await tx.first<{ public_key: string; state: RecordState }>(sql`
    select public_key, state from registry.signing_key where ${isOf(subscriber)} and record_id = ${key.recordId} for update`);
  const other = known !== undefined && known.public_key !== key.publicKey;
  if (known?.state === 'revoked' && !replace) throw revokedForEver(key.recordId);
  if (other && !replace) {
    throw new RegistrationRefused('key-taken', `Key ${key.recordId} is registered with another public key.`);
  }
  // Replacing is for another key: the same key, revoked, stays revoked.
  if (known?.state === 'revoked' && !other) return;
  if (other) {
    await tx.query(sql`delete from registry.signing_key
      where ${isOf(subscriber)} and record_id = ${key.recordId}`);
  }
  await tx.query(sql`insert into registry.signing_key as k
      (namespace, registry_name, record_id, public_key, state, valid_from, valid_until, ttl_seconds)
    values (${namespace}, ${registryName}, ${key.recordId}, ${key.publicKey}, coalesce(${key.state}, 'live'), ${key.validFrom},
      ${key.validUntil}, coalesce(${key.ttlSeconds}::integer, ${defaultTtlSeconds}::integer))
    on conflict (namespace, registry_name, record_id) do update
      set state = coalesce(${key.state}, k.state), valid_from = coalesce(${key.validFrom}, k.valid_from),
          valid_until = coalesce(${key.validUntil}, k.valid_until), ttl_seconds = coalesce(${key.ttlSeconds}::integer, k.ttl_seconds)`);
}

async function insertMembership(tx: Queryable, subscriber: Subscriber, networkId: string): Promise<void> {
  const { namespace, registryName } = subscriber;
  const row = newRow({ namespace, registryName, networkId });
  await tx.query(sql`insert into registry.membership ${row} on conflict do nothing`);
}

/** Refuses an unknown participant. At commit, its versions are written under the same lock. */
function changeParticipant<T>(
  database: Database,
  subscriber: Subscriber,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    const isKnown = await tx.has(sql`select from registry.participant
      where ${isOf(subscriber)} for no key update`);
    if (!isKnown) throw unknown(subscriber);
    return work(tx);
  });
}

export function isOf({ namespace, registryName }: Subscriber): Sql {
  return sql`namespace = ${namespace} and registry_name = ${registryName}`;
}

function unknown({ namespace, registryName }: Subscriber, recordId?: string): RegistrationRefused {
  const identity = `${namespace}/${registryName}`;
  return recordId === undefined
    ? new RegistrationRefused('unknown-subscriber', `${identity} is not registered.`)
    : new RegistrationRefused('unknown-key', `${identity} has no key ${recordId}.`);
}

function revokedForEver(recordId: string): RegistrationRefused {
  return new RegistrationRefused('key-revoked', `Key ${recordId} is permanently revoked; add another key.`);
}
