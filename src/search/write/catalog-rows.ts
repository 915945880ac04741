import { hasCode } from '../../error-code.ts';
import { type Transaction, WriteConflict } from '../../storage/database.ts';
import type { CatalogRef } from '../../storage/feeds/copies.ts';
import type { WrittenGeneration } from '../generations/in-use.ts';
import { firstNumbers } from '../keys.ts';

// The catalogs that the discovery service holds: one row per (source, owner, id).

export interface CatalogRow extends CatalogRef, ValidityRow {
  key: number;
  /** The newest generation of the index that it is in. */
  generation: number;
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

export interface HeldCatalog extends CatalogRow {
  /** False for one that this transaction writes first. */
  known: boolean;
}

/** Of a row; the names of those that change with what comes. */
const fixedColumns = 'key, source, owner, id, generation';
const columns = [
  ...['type', 'head', 'head_digest', 'provider_id', 'networks', 'schema_uses', 'is_active'],
  ...['valid_from', 'valid_until', 'window_start', 'window_length'],
  ...['next_resource', 'next_offer', 'pushed_at', 'pulled_at'],
];

/**
 * Locks these catalogs until the end of the transaction. Those that are not held yet get keys; their rows are inserted whole, when all is known of them: a row that is made
 * first and filled later leaves a dead one behind, in the table and in all of its indexes.
 */
export async function holdCatalogs(
  tx: Transaction,
  refs: readonly CatalogRef[],
  generations: readonly WrittenGeneration[],
): Promise<HeldCatalog[]> {
  const { rows } = await tx.query<Omit<HeldCatalog, 'head'> & { head: string }>(
    `select ${fixedColumns}, ${columns}, provider_id <> '' as known from discovery.catalog
     where (source, owner, id) in (select * from unnest($1::text[], $2::text[], $3::text[]))
     order by key for update`,
    refArrays(refs),
  );
  const held: HeldCatalog[] = rows.map((row) => ({ ...row, head: JSON.parse(row.head) }));
  const names = new Set(held.map(nameOf));
  const unknown = refs.filter((ref) => !names.has(nameOf(ref)));
  return unknown.length === 0 ? held : [...held, ...(await numberCatalogs(tx, unknown, generations))];
}

/** Their keys are in the order in which they are given: it becomes the order of answers. */
async function numberCatalogs(
  tx: Transaction,
  refs: readonly CatalogRef[],
  generations: readonly WrittenGeneration[],
): Promise<HeldCatalog[]> {
  const { rows } = await tx.query<CatalogRef & { key: number }>(
    `select source, owner, id, discovery.next_catalog_key() as key
     from (
       select source, owner, id from unnest($1::text[], $2::text[], $3::text[]) with ordinality as given (source, owner, id, ordinal)
       order by ordinal offset 0
     ) as wanted`,
    refArrays(refs),
  );
  const generation = generations.at(-1)?.number ?? 0;
  return rows.map((row) => ({ ...emptyCatalog, ...row, generation }));
}

const emptyCatalog: Omit<HeldCatalog, keyof CatalogRef | 'key' | 'generation'> = {
  ...{ type: 'REGULAR', head: {}, head_digest: 0, provider_id: '', networks: [], schema_uses: {} },
  ...{ is_active: false, valid_from: null, valid_until: null, window_start: null, window_length: null },
  ...{ next_resource: firstNumbers.resource, next_offer: firstNumbers.offer },
  ...{ pushed_at: null, pulled_at: null, known: false },
};

function refArrays(refs: readonly CatalogRef[]): string[][] {
  return [refs.map(({ source }) => source), refs.map(({ owner }) => owner), refs.map(({ id }) => id)];
}

export function nameOf({ source, owner, id }: CatalogRef): string {
  return JSON.stringify([source, owner, id]);
}

/** Inserts or updates rows. Throws where another transaction has inserted one of the catalogs meanwhile: then this one is repeated, and finds it. */
export async function writeCatalogs(tx: Transaction, rows: readonly CatalogRow[], now: Date): Promise<void> {
  if (rows.length === 0) return;
  const set = columns.map((column) => `${column} = excluded.${column}`);
  try {
    await tx.query(
      `insert into discovery.catalog as catalog (${fixedColumns}, ${columns}, schema_types, updated_at)
       select ${fixedColumns}, ${columns}, array(select jsonb_object_keys(schema_uses)), $2
       from json_populate_recordset(null::discovery.catalog, $1::json)
       on conflict (key) do update set ${set}, schema_types = excluded.schema_types, served = true, updated_at = $2`,
      [JSON.stringify(rows), now],
    );
  } catch (error) {
    if (!hasCode(error, uniqueViolation)) throw error;
    throw new WriteConflict('another transaction has inserted the catalog');
  }
}

const uniqueViolation = '23505';
