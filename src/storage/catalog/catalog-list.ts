import type { Queryable } from '../database.ts';
import { type CatalogFilter, matchText } from '../look-for-text.ts';
import { join, type Sql, sql } from '../sql.ts';
import type { CatalogRow } from './catalogs.ts';
import type { Change } from './change-log.ts';

// Published catalogs for operators.

export interface CatalogSummary extends Omit<CatalogRow, 'members' | 'head' | 'schemaUses'> {
  name: string | null;
  schemaTypes: string[];
}

export function listCatalogs(queryable: Queryable, filter: CatalogFilter): Promise<CatalogSummary[]> {
  return queryable.rows<CatalogSummary>(sql`
    select key, id, owner, type, visible_to as "visibleTo", version, full_version as "fullVersion", is_active as "isActive",
      head -> 'descriptor' ->> 'name' as name, schema_types as "schemaTypes",
      resource_count as "resourceCount", offer_count as "offerCount", published_at as "publishedAt", updated_at as "updatedAt"
    from ${matchText(matchingCatalogs(filter), filter)} order by key limit ${filter.limit}`);
}

export function matchingCatalogs({ owner, type, networkId, after }: CatalogFilter): Sql {
  const conditions = [sql`true`];
  if (owner !== undefined) conditions.push(sql`owner = ${owner}`);
  if (type !== undefined) conditions.push(sql`type = ${type}`);
  if (networkId !== undefined) conditions.push(sql`visible_to @> ${[networkId]}`);
  if (after !== undefined) conditions.push(sql`key > ${after}`);
  return sql`catalog.catalog where ${join(conditions, ' and ')}`;
}

export interface CatalogVersion extends Pick<Change, 'version' | 'at' | 'publisher' | 'kind'> {
  /** messageId of the publish that made it, while that is remembered. */
  messageId: string | null;
}

export function listVersions(queryable: Queryable, catalogKey: number, limit: number) {
  return queryable.rows<CatalogVersion>(sql`
    select change.version, at, change.publisher, kind, message_id as "messageId"
    from catalog.change_log as change left join catalog.submission on submission.id = submission_id
    where catalog_key = ${catalogKey} order by change.version desc limit ${limit}`);
}

interface ChangedDocument {
  kind: 'resources' | 'offers';
  id: string;
  version: number;
  document: unknown;
}

/** Documents of a catalog that last changed in one of these versions, in the order of their change. Their earlier content is not kept. */
export function listChangedDocuments(
  queryable: Queryable,
  { key, after, upTo, limit }: { key: number; after: number; upTo: number; limit: number },
): Promise<ChangedDocument[]> {
  const changed = (document: Sql, from: Sql) => sql`(
      select ${document}, id, changed_version as version from ${from}
      where catalog_key = ${key} and changed_version > ${after} and changed_version <= ${upTo} order by changed_version, id limit ${limit})`;
  return queryable.rows<ChangedDocument>(sql`
    ${changed(sql`'resources' as kind, coalesce(assembled, own)::jsonb as document`, sql`catalog.resource`)} union all
    ${changed(sql`'offers', own::jsonb`, sql`catalog.offer`)} order by version, kind desc, id limit ${limit}`);
}

export function countRemoved(
  queryable: Queryable,
  { key, after, upTo }: { key: number; after: number; upTo: number },
) {
  return queryable.value<number>(sql`select coalesce(sum((details ->> 'removed')::integer), 0)::integer
    from catalog.change_log where catalog_key = ${key} and version > ${after} and version <= ${upTo}`);
}
