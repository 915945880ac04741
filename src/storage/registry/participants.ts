/**
 * The registry role's participants: their keys, networks and catalog index addresses.
 *
 * Writing is for the operator (command line) and for `signpost up`; over HTTP the registry is only read.
 */
import type { RecordState } from '../../protocol/registry-record.ts';
import type { Database, Queryable, Transaction } from '../database.ts';

/** The two halves of an identity. */
export interface Subscriber {
  namespace: string;
  registryName: string;
}

export interface Registration extends Subscriber {
  /** What the record shows as `details.subscriber_id`. */
  subscriberId: string;
  url?: string;
  type?: string;
  domain?: string;
  countries?: readonly string[];
  networkIds?: readonly string[];
  key: KeyRegistration;
  /** Puts another public key in the place of the one that has this recordId, also of a revoked one. */
  replaceKey?: boolean;
}

export interface KeyRegistration {
  recordId: string;
  publicKey: string;
  state?: RecordState;
  validFrom?: Date;
  validUntil?: Date;
  /** How long readers may keep the record, and so how long a revocation may take to reach them. */
  ttlSeconds?: number;
}

/** Registers a participant with one key, or brings what is registered up to date; members not given stay as they are. */
export async function registerParticipant(database: Database, registration: Registration): Promise<void> {
  await database.transaction(async (tx) => {
    const { namespace, registryName, subscriberId, url, type, domain, countries } = registration;
    await tx.query(
      `insert into registry.participant as p (namespace, registry_name, subscriber_id, url, type, domain, countries)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (namespace, registry_name) do update
         set subscriber_id = excluded.subscriber_id, url = coalesce(excluded.url, p.url),
             type = coalesce(excluded.type, p.type), domain = coalesce(excluded.domain, p.domain),
             countries = coalesce(excluded.countries, p.countries)`,
      [namespace, registryName, subscriberId, url, type, domain, countries],
    );
    await putKey(tx, registration, registration.key, registration.replaceKey ?? false);
    for (const networkId of registration.networkIds ?? [])
      await insertMembership(tx, registration, networkId);
  });
}

/** Adds a key to a registered participant: the first half of a rotation. */
export function addKey(database: Database, subscriber: Subscriber, key: KeyRegistration): Promise<void> {
  return changeParticipant(database, subscriber, (tx) => putKey(tx, subscriber, key, false));
}

/** Sets the state of one key, or of all keys of the participant; returns the recordIds that changed. Revoked is for ever, so that no slip of the operator brings a stolen key back. */
export async function setKeyState(
  database: Database,
  { namespace, registryName }: Subscriber,
  state: RecordState,
  recordId?: string,
): Promise<string[]> {
  return database.transaction(async (tx) => {
    // Every writer takes the participant first: at commit its versions are written under the same lock.
    await tx.query(
      'select from registry.participant where namespace = $1 and registry_name = $2 for no key update',
      [namespace, registryName],
    );
    const { rows: keys } = await tx.query<{ record_id: string; state: RecordState }>(
      `select record_id, state from registry.signing_key
        where namespace = $1 and registry_name = $2 and ($3::text is null or record_id = $3) order by record_id for update`,
      [namespace, registryName, recordId ?? null],
    );
    if (keys.length === 0) throw unknown({ namespace, registryName }, recordId);
    const movable = keys
      .filter((key) => key.state !== state && key.state !== 'revoked')
      .map((key) => key.record_id);
    if (recordId !== undefined && state !== 'revoked' && keys[0]?.state === 'revoked') {
      throw revokedForEver(recordId);
    }
    await tx.query(
      `update registry.signing_key set state = $3
        where namespace = $1 and registry_name = $2 and record_id = any($4::text[])`,
      [namespace, registryName, state, movable],
    );
    return movable;
  });
}

export function addMembership(database: Database, subscriber: Subscriber, networkId: string): Promise<void> {
  return changeParticipant(database, subscriber, (tx) => insertMembership(tx, subscriber, networkId));
}

/** Returns whether the participant was a member. */
export function removeMembership(database: Database, subscriber: Subscriber, networkId: string) {
  return changeParticipant(database, subscriber, async (tx) => {
    const { rowCount } = await tx.query(
      'delete from registry.membership where namespace = $1 and registry_name = $2 and network_id = $3',
      [subscriber.namespace, subscriber.registryName, networkId],
    );
    return rowCount > 0;
  });
}

/** Sets `meta.catalog_index_urls` (self-hosted spec: Subscriber record pointer): the only pointer that a crawler has. */
export async function setCatalogIndexUrls(
  database: Database,
  { namespace, registryName }: Subscriber,
  urls: readonly string[],
): Promise<void> {
  const { rowCount } = await database.query(
    `update registry.participant set catalog_index_urls = $3
      where namespace = $1 and registry_name = $2`,
    [namespace, registryName, urls],
  );
  if (rowCount === 0) throw unknown({ namespace, registryName });
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

async function putKey(
  tx: Queryable,
  subscriber: Subscriber,
  key: KeyRegistration,
  replace: boolean,
): Promise<void> {
  const { namespace, registryName } = subscriber;
  const known = await tx.first<{ public_key: string; state: RecordState }>(
    `select public_key, state from registry.signing_key
      where namespace = $1 and registry_name = $2 and record_id = $3 for update`,
    [namespace, registryName, key.recordId],
  );
  const other = known !== undefined && known.public_key !== key.publicKey;
  if (known?.state === 'revoked' && !replace) throw revokedForEver(key.recordId);
  if (other && !replace) {
    throw new RegistrationRefused('key-taken', `Key ${key.recordId} is registered with another public key.`);
  }
  // Replacing is for another key: the same one, revoked, stays revoked.
  if (known?.state === 'revoked' && !other) return;
  if (other) {
    await tx.query(
      'delete from registry.signing_key where namespace = $1 and registry_name = $2 and record_id = $3',
      [namespace, registryName, key.recordId],
    );
  }
  await tx.query(
    `insert into registry.signing_key as k
       (namespace, registry_name, record_id, public_key, state, valid_from, valid_until, ttl_seconds)
     values ($1, $2, $3, $4, coalesce($5, 'live'), $6, $7, coalesce($8::integer, $9::integer))
     on conflict (namespace, registry_name, record_id) do update
       set state = coalesce($5, k.state), valid_from = coalesce($6, k.valid_from),
           valid_until = coalesce($7, k.valid_until), ttl_seconds = coalesce($8::integer, k.ttl_seconds)`,
    [
      ...[namespace, registryName, key.recordId, key.publicKey, key.state],
      ...[key.validFrom, key.validUntil, key.ttlSeconds, defaultTtlSeconds],
    ],
  );
}

async function insertMembership(tx: Queryable, subscriber: Subscriber, networkId: string): Promise<void> {
  await tx.query(
    'insert into registry.membership (namespace, registry_name, network_id) values ($1, $2, $3) on conflict do nothing',
    [subscriber.namespace, subscriber.registryName, networkId],
  );
}

/** Refuses a participant that is not there. At commit, its versions are written under the same lock. */
function changeParticipant<T>(
  database: Database,
  subscriber: Subscriber,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      'select from registry.participant where namespace = $1 and registry_name = $2 for no key update',
      [subscriber.namespace, subscriber.registryName],
    );
    if (rowCount === 0) throw unknown(subscriber);
    return work(tx);
  });
}

function unknown({ namespace, registryName }: Subscriber, recordId?: string): RegistrationRefused {
  const identity = `${namespace}/${registryName}`;
  return recordId === undefined
    ? new RegistrationRefused('unknown-subscriber', `${identity} is not registered.`)
    : new RegistrationRefused('unknown-key', `${identity} has no key ${recordId}.`);
}

function revokedForEver(recordId: string): RegistrationRefused {
  return new RegistrationRefused(
    'key-revoked',
    `Key ${recordId} is revoked, which is for ever; add another key.`,
  );
}
