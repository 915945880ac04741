import { type Transaction, WriteConflict } from '../../storage/database.ts';
import type { CatalogRef } from '../../storage/feeds/copies.ts';
import { firstNumbers } from '../keys.ts';

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
}

/** A validity as columns: bounds, inclusive, and the daily window, in milliseconds. */
export interface ValidityRow {
  valid_from: Date | null;
  valid_until: Date | null;
  window_start: number | null;
  window_length: number | null;
}

export interface HeldCatalog extends CatalogRef, CatalogRow {
  /** The newest generation of the index that it is in. */
  generation: number;
  /** False for one that this transaction writes first. */
  known: boolean;
  hasRow: boolean;
}

/**
 * Locks these catalogs until the end of the transaction. Those that are not held yet get keys; their rows are inserted whole, when all is known of them: a row that is made
 * first and filled later leaves a dead one behind, in the table and in all of its indexes. Either way the transaction has an id from now on, by which a sweep of the dictionary
 * waits for it (upkeep/sweep-words.ts).
 */
export async function holdCatalogs(
  tx: Transaction,
  refs: readonly CatalogRef[],
  newestGeneration: number,
): Promise<HeldCatalog[]> {
  const { rows } = await tx.query<Omit<HeldCatalog, 'head'> & { head: string }>(
    `select source, owner, id, key, type, head, head_digest, provider_id, networks, schema_uses, is_active, valid_from, valid_until,
       window_start, window_length, next_resource, next_offer, pushed_at, pulled_at, generation, provider_id <> '' as known, true as "hasRow"
     from discovery.catalog
     where (source, owner, id) in (select * from unnest($1::text[], $2::text[], $3::text[]))
     order by key for update`,
    refArrays(refs),
  );
  const held: HeldCatalog[] = rows.map((row) => ({ ...row, head: JSON.parse(row.head) }));
  if (held.length === refs.length) return held;
  const names = new Set(held.map(nameOf));
  return [
    ...held,
    ...(await numberCatalogs(
      tx,
      refs.filter((ref) => !names.has(nameOf(ref))),
      newestGeneration,
    )),
  ];
}

/** Their keys are in the order in which they are given: it becomes the order of answers. */
async function numberCatalogs(
  tx: Transaction,
  refs: readonly CatalogRef[],
  newestGeneration: number,
): Promise<HeldCatalog[]> {
  const { rows } = await tx.query<CatalogRef & Pick<HeldCatalog, 'key' | 'generation'>>(
    `select source, owner, id, discovery.next_catalog_key() as key, $4::integer as generation
     from (
       select source, owner, id from unnest($1::text[], $2::text[], $3::text[]) with ordinality as given (source, owner, id, ordinal)
       order by ordinal offset 0
     ) as wanted
     where pg_current_xact_id() is not null`,
    [...refArrays(refs), newestGeneration],
  );
  return rows.map((row) => ({ ...emptyCatalog, ...row }));
}

const emptyCatalog: Omit<HeldCatalog, keyof CatalogRef | 'key' | 'generation'> = {
  type: 'REGULAR',
  head: {},
  head_digest: 0,
  provider_id: '',
  networks: [],
  schema_uses: {},
  is_active: false,
  ...{ valid_from: null, valid_until: null, window_start: null, window_length: null },
  next_resource: firstNumbers.resource,
  next_offer: firstNumbers.offer,
  ...{ pushed_at: null, pulled_at: null },
  ...{ known: false, hasRow: false },
};

function refArrays(refs: readonly CatalogRef[]): string[][] {
  return [refs.map(({ source }) => source), refs.map(({ owner }) => owner), refs.map(({ id }) => id)];
}

function nameOf({ source, owner, id }: CatalogRef): string {
  return JSON.stringify([source, owner, id]);
}

/** Inserts the rows of catalogs that have only got their keys. Throws where another transaction has inserted one of them meanwhile: then this one is repeated, and finds it. */
export async function insertCatalogs(
  tx: Transaction,
  rows: readonly (CatalogRow & CatalogRef & Pick<HeldCatalog, 'generation'>)[],
  now: Date,
): Promise<void> {
  if (rows.length === 0) return;
  const { rowCount } = await tx.query(
    `insert into discovery.catalog
       (key, source, owner, id, generation, type, head, head_digest, provider_id, networks, schema_uses, schema_types, is_active,
        valid_from, valid_until, window_start, window_length, next_resource, next_offer, pushed_at, pulled_at, updated_at)
     select key, source, owner, id, generation, type, head, head_digest, provider_id, networks, schema_uses,
       array(select jsonb_object_keys(schema_uses)), is_active,
       valid_from, valid_until, window_start, window_length, next_resource, next_offer, pushed_at, pulled_at, $2
     from json_to_recordset($1::json) as incoming (source text, owner text, id text, generation integer, ${recordColumns})
     on conflict do nothing`,
    [JSON.stringify(rows), now],
  );
  if (rowCount < rows.length) throw new WriteConflict('another transaction has inserted the catalog');
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
       pushed_at = incoming.pushed_at, pulled_at = incoming.pulled_at, served = true, updated_at = $2
     from json_to_recordset($1::json) as incoming (${recordColumns})
     where catalog.key = incoming.key`,
    [JSON.stringify(rows), now],
  );
}

const recordColumns = `key bigint, type text, head json, head_digest bigint, provider_id text, networks text[], schema_uses jsonb, is_active boolean,
  valid_from timestamptz, valid_until timestamptz, window_start integer, window_length integer,
  next_resource integer, next_offer integer, pushed_at timestamptz, pulled_at timestamptz`;
