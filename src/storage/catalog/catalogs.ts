import type { CatalogType } from '../../protocol/catalog.ts';
import type { Queryable, Transaction } from '../database.ts';
import { assign, newRow, sql } from '../sql.ts';

// The catalogs: one row with the catalog-level members, one row per resource and per offer. A writer of a catalog holds the lock on its row until the
// commit, so versions and change-log rows of one catalog are consecutive.

export interface CatalogRow {
  key: number;
  id: string;
  owner: string | null;
  type: CatalogType;
  visibleTo: string[];
  version: number;
  fullVersion: number;
  /** JSON texts: the catalog-level members as published, and as sent to others. */
  members: string;
  head: string;
  isActive: boolean;
  resourceCount: number;
  offerCount: number;
  schemaUses: SchemaUses;
  /** Sum over all its resources (storage/inherited.ts). */
  inheritedBytes: number;
  publishedAt: Date;
  updatedAt: Date;
}

export type SchemaUses = Record<string, number>;

const columns = sql`key, id, owner, type, visible_to as "visibleTo", version, full_version as "fullVersion", members, head,
  is_active as "isActive", resource_count as "resourceCount", offer_count as "offerCount", schema_uses as "schemaUses",
  inherited_bytes as "inheritedBytes", published_at as "publishedAt", updated_at as "updatedAt"`;

/** The catalog of an id, locked together with the id: two simultaneous first publishes of one id run one after the other. */
export async function lockCatalogId(tx: Transaction, id: string): Promise<CatalogRow | undefined> {
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended(${`catalog ${id}`}, 0))`);
  return tx.first<CatalogRow>(sql`select ${columns} from catalog.catalog where id = ${id} for no key update`);
}

export function lockCatalog(tx: Transaction, key: number) {
  return tx.first<CatalogRow>(sql`select ${columns} from catalog.catalog
    where key = ${key} for no key update`);
}

export function findCatalog(queryable: Queryable, id: string) {
  return queryable.first<CatalogRow>(sql`select ${columns} from catalog.catalog where id = ${id}`);
}

export type NewCatalog = Omit<CatalogRow, 'key' | 'inheritedBytes' | 'publishedAt' | 'updatedAt'> & {
  now: Date;
  traceparent?: string | null;
};

export function insertCatalog(tx: Transaction, catalog: NewCatalog) {
  const row = newRow({ ...changeable(catalog), publishedAt: catalog.now });
  return tx.value<number>(sql`insert into catalog.catalog ${row} returning key`);
}

export async function updateCatalog(tx: Transaction, key: number, catalog: NewCatalog): Promise<void> {
  await tx.query(sql`update catalog.catalog set ${assign(changeable(catalog))} where key = ${key}`);
}

function changeable(catalog: NewCatalog): object {
  const { id, owner, type, visibleTo, version, fullVersion, members, head, isActive } = catalog;
  const { resourceCount, offerCount, schemaUses, now: updatedAt, traceparent } = catalog;
  const schemas = { schemaUses: JSON.stringify(schemaUses), schemaTypes: Object.keys(schemaUses) };
  return {
    ...{ id, owner, type, visibleTo, version, fullVersion, members, head, isActive },
    ...{ resourceCount, offerCount, ...schemas, updatedAt, traceparent },
  };
}

/** Releases the id: its next publisher starts with nothing. Returns the former owner. */
export function releaseCatalog(tx: Transaction, id: string) {
  return tx.value<string | null | undefined>(sql`
    update catalog.catalog set owner = null from (select key, owner from catalog.catalog where id = ${id} for update) as held
    where catalog.key = held.key returning held.owner as owner`);
}
