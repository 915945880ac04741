import type { CatalogType } from '../../protocol/catalog.ts';
import type { Queryable } from '../database.ts';
import { matchText, type TextFilter } from '../look-for-text.ts';
import { Parameters } from '../parameters.ts';
import type { CatalogRow } from './catalogs.ts';

// Published catalogs as an operator sees them.

/** A catalog without its documents, for an operator's list. */
export interface CatalogSummary extends Omit<CatalogRow, 'members' | 'head' | 'schemaUses'> {
  name: string | null;
  schemaTypes: string[];
}

export interface CatalogFilter extends TextFilter {
  owner?: string;
  type?: CatalogType;
  networkId?: string;
  limit: number;
  /** Only those that come after this key. */
  after?: number;
}

/** In the order in which they were first published. */
export function listCatalogs(queryable: Queryable, filter: CatalogFilter): Promise<CatalogSummary[]> {
  const given = new Parameters();
  const chosen = matchText(matchingCatalogs(filter, given), filter, given);
  return queryable.rows<CatalogSummary>(
    `select key, id, owner, type, visible_to as "visibleTo", version, full_version as "fullVersion", is_active as "isActive",
       head -> 'descriptor' ->> 'name' as name, schema_types as "schemaTypes",
       resource_count as "resourceCount", offer_count as "offerCount", published_at as "publishedAt", updated_at as "updatedAt"
     from ${chosen} order by key limit ${given.add(filter.limit)}`,
    given.values,
  );
}

/** Those that match all but the text. */
export function matchingCatalogs(
  { owner, type, networkId, after }: CatalogFilter,
  given: Parameters,
): string {
  const conditions = ['true'];
  if (owner !== undefined) conditions.push(`owner = ${given.add(owner)}`);
  if (type !== undefined) conditions.push(`type = ${given.add(type)}`);
  if (networkId !== undefined) conditions.push(`visible_to @> array[${given.add(networkId)}]`);
  if (after !== undefined) conditions.push(`key > ${given.add(after)}`);
  return `catalog.catalog where ${conditions.join(' and ')}`;
}

export interface CatalogVersion {
  version: number;
  at: Date;
  publisher: string;
  kind: string;
  /** Of the publish that made it, while that is remembered. */
  messageId: string | null;
}

/** The versions of a catalog that are still known, the latest first. */
export function listVersions(queryable: Queryable, catalogKey: number, limit: number) {
  return queryable.rows<CatalogVersion>(
    `select change.version, at, change.publisher, kind, message_id as "messageId"
     from catalog.change_log as change left join catalog.submission on submission.id = submission_id
     where catalog_key = $1 order by change.version desc limit $2`,
    [catalogKey, limit],
  );
}

export interface ChangedDocument {
  kind: 'resources' | 'offers';
  id: string;
  version: number;
  document: unknown;
}

/** Documents of a catalog that changed last in one of these versions, in the order of their change. What they were before is not kept. */
export function listChangedDocuments(
  queryable: Queryable,
  { key, after, upTo, limit }: { key: number; after: number; upTo: number; limit: number },
): Promise<ChangedDocument[]> {
  const changed = (kind: string, table: string, document: string) =>
    `(select '${kind}' as kind, id, changed_version as version, ${document}::jsonb as document from ${table}
      where catalog_key = $1 and changed_version > $2 and changed_version <= $3 order by changed_version, id limit $4)`;
  return queryable.rows<ChangedDocument>(
    `${changed('resources', 'catalog.resource', 'coalesce(assembled, own)')}
     union all ${changed('offers', 'catalog.offer', 'own')} order by version, kind desc, id limit $4`,
    [key, after, upTo, limit],
  );
}

/** How many documents versions of a catalog removed. */
export function countRemoved(
  queryable: Queryable,
  { key, after, upTo }: { key: number; after: number; upTo: number },
) {
  return queryable.value<number>(
    `select coalesce(sum((details ->> 'removed')::integer), 0)::integer as removed
     from catalog.change_log where catalog_key = $1 and version > $2 and version <= $3`,
    [key, after, upTo],
  );
}
