import type { CatalogType } from '../../protocol/catalog.ts';
import type { Queryable, Transaction } from '../database.ts';

// The catalogs themselves: one row with the catalog-level members, one row per resource and per offer. Whoever changes a catalog holds the
// lock on its row until it commits, so that versions and change-log rows of one catalog come one after the other.

export interface CatalogRow {
  key: number;
  id: string;
  owner: string | null;
  type: CatalogType;
  visibleTo: string[];
  version: number;
  fullVersion: number;
  /** JSON texts: the catalog-level members as published, and as they leave the service. */
  members: string;
  head: string;
  isActive: boolean;
  resourceCount: number;
  offerCount: number;
  schemaUses: SchemaUses;
  /** Of all its resources (storage/inherited.ts). */
  inheritedBytes: number;
  publishedAt: Date;
  updatedAt: Date;
}

/** How many documents of a catalog use each schema type. */
export type SchemaUses = Record<string, number>;

const columns = `key, id, owner, type, visible_to as "visibleTo", version, full_version as "fullVersion", members, head,
  is_active as "isActive", resource_count as "resourceCount", offer_count as "offerCount", schema_uses as "schemaUses",
  inherited_bytes as "inheritedBytes", published_at as "publishedAt", updated_at as "updatedAt"`;

/** The catalog of an id, locked, with the id itself: two first publishes of one id at the same moment come one after the other. */
export async function lockCatalogId(tx: Transaction, id: string): Promise<CatalogRow | undefined> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`catalog ${id}`]);
  return tx.first<CatalogRow>(`select ${columns} from catalog.catalog where id = $1 for no key update`, [id]);
}

export function lockCatalog(tx: Transaction, key: number) {
  return tx.first<CatalogRow>(`select ${columns} from catalog.catalog where key = $1 for no key update`, [
    key,
  ]);
}

export function findCatalog(queryable: Queryable, id: string) {
  return queryable.first<CatalogRow>(`select ${columns} from catalog.catalog where id = $1`, [id]);
}

export type NewCatalog = Omit<CatalogRow, 'key' | 'inheritedBytes' | 'publishedAt' | 'updatedAt'> & {
  now: Date;
  /** Of the span that changes it, where it is traced. */
  traceparent?: string | null;
};

export function insertCatalog(tx: Transaction, catalog: NewCatalog) {
  return tx.value<number>(
    `insert into catalog.catalog
       (id, owner, type, visible_to, version, full_version, members, head, is_active, resource_count, offer_count, schema_uses,
        schema_types, published_at, updated_at, traceparent)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $15) returning key`,
    valuesOf(catalog),
  );
}

export async function updateCatalog(tx: Transaction, key: number, catalog: NewCatalog): Promise<void> {
  await tx.query(
    `update catalog.catalog
     set id = $1, owner = $2, type = $3, visible_to = $4, version = $5, full_version = $6, members = $7, head = $8, is_active = $9,
         resource_count = $10, offer_count = $11, schema_uses = $12, schema_types = $13, updated_at = $14, traceparent = $15
     where key = $16`,
    [...valuesOf(catalog), key],
  );
}

function valuesOf(catalog: NewCatalog): unknown[] {
  const { id, owner, type, visibleTo, version, fullVersion, members, head, isActive } = catalog;
  const { resourceCount, offerCount, schemaUses, now, traceparent } = catalog;
  const uses = JSON.stringify(schemaUses);
  const types = Object.keys(schemaUses);
  return [
    ...[id, owner, type, visibleTo, version, fullVersion, members, head, isActive],
    ...[resourceCount, offerCount, uses, types, now, traceparent],
  ];
}

/** The id belongs to nobody: whoever publishes it next starts anew. Returns who owned it. */
export function releaseCatalog(tx: Transaction, id: string) {
  return tx.value<string | null | undefined>(
    `update catalog.catalog set owner = null from (select key, owner from catalog.catalog where id = $1 for update) as held
     where catalog.key = held.key returning held.owner as owner`,
    [id],
  );
}
