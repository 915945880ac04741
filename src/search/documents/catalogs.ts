import type { Transaction } from '../../storage/database.ts';
import type { CatalogRef } from '../../storage/feeds/copies.ts';
import { indexFormats, newestOf } from '../format/index-format.ts';

// The catalogs that the discovery service holds: one row per (source, owner, id).

/** What is written of a catalog, under its key. */
export interface CatalogRow extends ValidityRow {
  key: number;
  type: 'REGULAR' | 'MASTER';
  /** The catalog-level members. */
  head: object;
  head_digest: number;
  provider_id: string;
  /** None: every network. */
  networks: readonly string[];
  schema_uses: Record<string, number>;
  is_active: boolean;
  next_resource: number;
  next_offer: number;
  pushed_at: Date | null;
  pulled_at: Date | null;
  /** Those of the catalog-level members (text/dictionary.ts); null: they stay as they are. */
  words: Buffer | null;
}

/** A validity as columns: bounds, inclusive, and the daily window, in milliseconds. */
export interface ValidityRow {
  valid_from: Date | null;
  valid_until: Date | null;
  window_start: number | null;
  window_length: number | null;
}

export interface HeldCatalog extends CatalogRef, CatalogRow, IndexedVersions {
  words: Buffer;
  /** False for one that this transaction has just made room for. */
  known: boolean;
}

/** By which version of the code the entries of a catalog were made (format/index-format.ts). */
export interface IndexedVersions {
  index_version: number;
  /** Documents with a lower number have entries of the other version already: the catalog is being rebuilt. */
  reindexed_below: number;
  reindexed_version: number;
}

/** Locks these catalogs until the end of the transaction; rows are made for those that are not held yet. */
export async function holdCatalogs(
  tx: Transaction,
  refs: readonly CatalogRef[],
  now: Date,
  newestVersion = newestOf(indexFormats).version,
): Promise<HeldCatalog[]> {
  const values = [refs.map(({ source }) => source), refs.map(({ owner }) => owner), refs.map(({ id }) => id)];
  // Their keys are in the order in which they are given: it becomes the order of answers.
  await tx.query(
    `insert into discovery.catalog
       (source, owner, id, type, head, head_digest, provider_id, schema_uses, schema_types, is_active, updated_at, index_version)
     select source, owner, id, 'REGULAR', '{}', 0, '', '{}', '{}', false, $4, coalesce((select version from discovery.index_state), $5)
     from unnest($1::text[], $2::text[], $3::text[]) with ordinality as wanted (source, owner, id, ordinal)
     where not exists (
       select from discovery.catalog as held
       where (held.source, held.owner, held.id) = (wanted.source, wanted.owner, wanted.id)
     )
     order by ordinal
     on conflict (source, owner, id) do nothing`,
    [...values, now, newestVersion],
  );
  const { rows } = await tx.query<Omit<HeldCatalog, 'head'> & { head: string }>(
    `select source, owner, id, key, type, head, head_digest, provider_id, networks, schema_uses, is_active, valid_from, valid_until,
       window_start, window_length, next_resource, next_offer, pushed_at, pulled_at, words, index_version,
       reindexed_below, reindexed_version, provider_id <> '' as known
     from discovery.catalog
     where (source, owner, id) in (select * from unnest($1::text[], $2::text[], $3::text[]))
     order by key for update`,
    values,
  );
  return rows.map((row) => ({ ...row, head: JSON.parse(row.head) }));
}

export async function updateCatalogs(tx: Transaction, rows: readonly CatalogRow[], now: Date): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `update discovery.catalog as catalog
     set type = incoming.type, head = incoming.head, head_digest = incoming.head_digest, provider_id = incoming.provider_id,
       networks = incoming.networks, schema_uses = incoming.schema_uses,
       schema_types = array(select jsonb_object_keys(incoming.schema_uses)),
       is_active = incoming.is_active, valid_from = incoming.valid_from, valid_until = incoming.valid_until,
       window_start = incoming.window_start, window_length = incoming.window_length,
       next_resource = incoming.next_resource, next_offer = incoming.next_offer,
       pushed_at = incoming.pushed_at, pulled_at = incoming.pulled_at, served = true, updated_at = $2,
       words = coalesce(incoming.words, catalog.words)
     from json_to_recordset($1::json) as incoming (
       key bigint, type text, head json, head_digest bigint, provider_id text, networks text[], schema_uses jsonb, is_active boolean,
       valid_from timestamptz, valid_until timestamptz, window_start integer, window_length integer,
       next_resource integer, next_offer integer, pushed_at timestamptz, pulled_at timestamptz, words bytea)
     where catalog.key = incoming.key`,
    [JSON.stringify(rows.map((row) => ({ ...row, words: row.words && bytesText(row.words) }))), now],
  );
}

/** As PostgreSQL reads bytes from a text. */
export function bytesText(bytes: Buffer): string {
  return `\\x${bytes.toString('hex')}`;
}
