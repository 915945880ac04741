import { hasCode } from '../../error-code.ts';
import type { CatalogType, ReceivedCatalog } from '../../protocol/catalog.ts';
import { boundsOf } from '../../rules/time-period.ts';
import { arraysOf, textArray } from '../../storage/binary-arrays.ts';
import { type Transaction, WriteConflict } from '../../storage/database.ts';
import type { CatalogRef } from '../../storage/feeds/copies.ts';
import { hash53 } from '../entries/attributes.ts';
import type { WrittenGeneration } from '../generations/in-use.ts';
import { firstNumbers } from '../keys.ts';

// The catalogs in the discovery service: one row per (source, owner, id).

interface CatalogRow extends CatalogRef, ValidityRow {
  key: number;
  /** The newest generation of the index that contains it. */
  generation: number;
  type: 'REGULAR' | 'MASTER';
  /** The catalog-level members. */
  head: object;
  head_digest: number;
  provider_id: string;
  /** Empty: every network. */
  networks: readonly string[];
  schema_uses: Record<string, number>;
  is_active: boolean;
  next_resource: number;
  next_offer: number;
  pushed_at: Date | null;
  pulled_at: Date | null;
}

/** A validity as columns: inclusive bounds, and the daily window, in milliseconds. */
export interface ValidityRow {
  valid_from: Date | null;
  valid_until: Date | null;
  window_start: number | null;
  window_length: number | null;
}

interface HeldCatalog extends CatalogRow {
  /** False if this transaction writes it first. */
  known: boolean;
}

/** Columns that never change after the insert. */
const fixedColumns = 'key, source, owner, id, generation';
const columns = [
  ...['type', 'head', 'head_digest', 'provider_id', 'networks', 'schema_uses', 'is_active'],
  ...['valid_from', 'valid_until', 'window_start', 'window_length'],
  ...['next_resource', 'next_offer', 'pushed_at', 'pulled_at'],
];

/** Locks these catalogs until the end of the transaction. New ones get a key; their rows come last, because an update would leave dead rows. */
export async function holdCatalogs(
  tx: Transaction,
  refs: readonly CatalogRef[],
  generations: readonly WrittenGeneration[],
): Promise<HeldCatalog[]> {
  const rows = await tx.rows<Omit<HeldCatalog, 'head'> & { head: string }>(
    `select ${fixedColumns}, ${columns}, provider_id <> '' as known from discovery.catalog
     where (source, owner, id) in (select * from unnest($1::text[], $2::text[], $3::text[]))
     order by key for update`,
    arraysOf(refs, { source: textArray, owner: textArray, id: textArray }),
  );
  const held: HeldCatalog[] = rows.map((row) => ({ ...row, head: JSON.parse(row.head) }));
  const names = new Set(held.map(nameOf));
  const unknown = refs.filter((ref) => !names.has(nameOf(ref)));
  return unknown.length === 0 ? held : [...held, ...(await numberCatalogs(tx, unknown, generations))];
}

/** Keys follow the given order, which becomes the order of answers. */
async function numberCatalogs(
  tx: Transaction,
  refs: readonly CatalogRef[],
  generations: readonly WrittenGeneration[],
): Promise<HeldCatalog[]> {
  const keys = await tx.column<number>(
    'select discovery.next_catalog_key() as key from generate_series(1, $1) order by key',
    [refs.length],
  );
  const generation = generations.at(-1)?.number ?? 0;
  return refs.map(({ source, owner, id }, index) => ({
    ...{ ...emptyCatalog, source, owner, id, key: keys[index] ?? 0, generation },
  }));
}

const emptyCatalog: Omit<HeldCatalog, keyof CatalogRef | 'key' | 'generation'> = {
  ...{ type: 'REGULAR', head: {}, head_digest: 0, provider_id: '', networks: [], schema_uses: {} },
  ...{ is_active: false, valid_from: null, valid_until: null, window_start: null, window_length: null },
  ...{ next_resource: firstNumbers.resource, next_offer: firstNumbers.offer },
  ...{ pushed_at: null, pulled_at: null, known: false },
};

export function nameOf({ source, owner, id }: CatalogRef): string {
  return JSON.stringify([source, owner, id]);
}

/** Inserts or updates rows. Throws if another transaction has inserted one of the catalogs meanwhile. Then this one is repeated, and finds it. */
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

export interface IncomingCatalog {
  /** 'service:<identity>' of a catalog service, or 'node'. */
  source: string;
  /** Identity of the provider node. */
  owner: string;
  type: CatalogType;
  /** Empty or null: every network. */
  networks: readonly string[] | null;
  catalog: ReceivedCatalog;
  /** FULL replaces the catalog; MERGE keeps everything that it does not name. */
  mode: 'FULL' | 'MERGE';
  /** A MERGE with all catalog-level members: a part of a catalog that is too large to send at once. */
  replacesMembers?: boolean;
  /** Ids that a MERGE removes. */
  removals?: { resources?: readonly string[]; offers?: readonly string[] };
  /** Resources that a later MERGE of the same transaction brings: until then they stay unchanged. */
  later?: ReadonlySet<string>;
  /** Its geometries were already found cheap enough to search. This check takes long for large ones. */
  areGeometriesChecked?: boolean;
  /** context.timestamp of the push, or the time of the pull request, that brought it. */
  pushedAt?: Date;
  pulledAt?: Date;
}

/** A catalog to apply to the index. */
export interface Target {
  incoming: IncomingCatalog;
  before: HeldCatalog;
  /** The generations that contain its documents. */
  generations: readonly WrittenGeneration[];
  /** The row after the change. Each written document updates its numbers and counts. */
  row: CatalogRow;
  written: number;
  removed: number;
  unindexed: UnindexedGeometry[];
}

/** A geometry that is too costly to search, accepted by another catalog service. No search finds its document by it. */
export interface UnindexedGeometry {
  /** The id of the resource or offer; undefined: the provider. */
  id?: string;
  path: string;
}

export function targetOf(
  incoming: IncomingCatalog,
  before: HeldCatalog,
  generations: readonly WrittenGeneration[],
): Target {
  const { resources: _resources, offers: _offers, ...members } = incoming.catalog;
  const keeps = incoming.mode === 'MERGE' && before.known && !incoming.replacesMembers;
  const head = (keeps ? { ...before.head, ...members } : members) as typeof members;
  const { known: _known, ...held } = before;
  const row: CatalogRow = {
    ...held,
    type: incoming.type,
    head,
    head_digest: hash53(JSON.stringify(head)),
    provider_id: head.provider.id,
    networks: incoming.networks ?? [],
    schema_uses: { ...before.schema_uses },
    is_active: head.isActive ?? true,
    ...validityRow(head.validity),
    pushed_at: incoming.pushedAt ?? before.pushed_at,
    pulled_at: incoming.pulledAt ?? before.pulled_at,
  };
  const theirs = generations.filter(({ number }) => number <= before.generation);
  return { incoming, before, generations: theirs, row, written: 0, removed: 0, unindexed: [] };
}

export function validityRow(validity: ReceivedCatalog['validity']): ValidityRow {
  const { from, until, window } = boundsOf(validity);
  return {
    valid_from: from ?? null,
    valid_until: until ?? null,
    window_start: window?.start ?? null,
    window_length: window?.length ?? null,
  };
}
