import { textArray } from '../binary-arrays.ts';
import type { Queryable, Transaction } from '../database.ts';
import { raw, sql } from '../sql.ts';
import type { SchemaUses } from './catalogs.ts';

// The resources and offers of a catalog, written in bulk by one statement. A row without changes is not written, so `changed_version` is the version
// of the last visible change.

export interface ResourceRow {
  id: string;
  /** JSON texts, like everything below of this type. */
  own: string;
  /** Null if nothing is inherited. */
  assembled: string | null;
  extension: ExtensionRow | null;
}

export interface ExtensionRow {
  directive: string;
  masterKey: number;
  masterResourceId: string;
  masterVersion: number;
  edition: number;
}

export interface OfferRow {
  id: string;
  own: string;
}

export interface Written {
  inserted: number;
  updated: number;
}

interface WriteTarget {
  key: number;
  version: number;
  /** The catalog has just been inserted: the database need not check for conflicts. */
  isNew?: boolean;
}

export async function writeResources(
  tx: Transaction,
  catalog: WriteTarget & { isTemplate: boolean },
  rows: readonly ResourceRow[],
): Promise<Written> {
  if (rows.length === 0) return { inserted: 0, updated: 0 };
  const { key, version, isTemplate, isNew } = catalog;
  return tx.one<Written>(sql`with written as (
      insert into catalog.resource as resource
        (catalog_key, changed_version, is_template, template_bytes, id, own, assembled, directive,
         master_key, master_resource_id, master_version, edition)
      select ${key}, ${version}, ${isTemplate}, case when ${isTemplate} then octet_length(own) end, id, own::json, assembled::json, directive::json,
        master_key, master_resource_id, master_version, edition
      from unnest(
        ${textArray(rows.map(({ id }) => id))}::text[],
        ${textArray(rows.map(({ own }) => own))}::text[],
        ${textArray(column(rows, ({ assembled }) => assembled))}::text[],
        ${textArray(column(rows, ({ extension }) => extension?.directive))}::text[],
        ${column(rows, ({ extension }) => extension?.masterKey)}::bigint[],
        ${textArray(column(rows, ({ extension }) => extension?.masterResourceId))}::text[],
        ${column(rows, ({ extension }) => extension?.masterVersion)}::integer[],
        ${column(rows, ({ extension }) => extension?.edition)}::bigint[]
      ) as incoming (id, own, assembled, directive, master_key, master_resource_id, master_version, edition)
      ${isNew ? sql`` : updateResource}
      returning xmax = 0 as inserted, changed_version = ${version} as changed
    )
    select count(*) filter (where inserted) as inserted, count(*) filter (where changed and not inserted) as updated from written`);
}

/** The version of the last change is that of the visible content, not of its origin. */
const updateResource = sql`
  on conflict (catalog_key, id) do update
    set own = excluded.own, assembled = excluded.assembled, directive = excluded.directive, master_key = excluded.master_key,
        master_resource_id = excluded.master_resource_id, master_version = excluded.master_version,
        edition = excluded.edition, is_template = excluded.is_template, template_bytes = excluded.template_bytes,
        changed_version = case
          when coalesce(resource.assembled, resource.own)::text = coalesce(excluded.assembled, excluded.own)::text
          then resource.changed_version else excluded.changed_version end
    where (resource.own::text, resource.assembled::text, resource.directive::text,
        resource.master_key, resource.master_version, resource.edition, resource.is_template)
      is distinct from (excluded.own::text, excluded.assembled::text, excluded.directive::text,
        excluded.master_key, excluded.master_version, excluded.edition, excluded.is_template)`;

/** Empty if no row has a value: most resources extend nothing, and unnest returns null for missing elements. */
function column<T>(rows: readonly ResourceRow[], read: (row: ResourceRow) => T | null | undefined) {
  const values = rows.map((row) => read(row) ?? null);
  return values.every((value) => value === null) ? [] : values;
}

export async function writeOffers(tx: Transaction, catalog: WriteTarget, rows: readonly OfferRow[]) {
  if (rows.length === 0) return { inserted: 0, updated: 0 };
  const [ids, own] = [textArray(rows.map(({ id }) => id)), textArray(rows.map((row) => row.own))];
  return tx.one<Written>(sql`with written as (
      insert into catalog.offer as offer (catalog_key, changed_version, id, own)
      select ${catalog.key}, ${catalog.version}, id, own::json from unnest(${ids}::text[], ${own}::text[]) as incoming (id, own)
      ${catalog.isNew ? sql`` : updateOffer}
      returning xmax = 0 as inserted
    )
    select count(*) filter (where inserted) as inserted, count(*) filter (where not inserted) as updated from written`);
}

const updateOffer = sql`
  on conflict (catalog_key, id) do update set own = excluded.own, changed_version = excluded.changed_version
    where offer.own::text is distinct from excluded.own::text`;

export async function findResourceIds(queryable: Queryable, catalogKey: number, ids: readonly string[]) {
  const found = await queryable.column<string>(sql`select id from catalog.resource
    where catalog_key = ${catalogKey} and id = any (${ids})`);
  return new Set(found);
}

export function findResourceIdsOf(
  queryable: Queryable,
  owner: string,
  { networkIds, ids, except }: { networkIds: readonly string[]; ids: readonly string[]; except?: number },
) {
  return queryable.column<string>(sql`
    select distinct resource.id from catalog.catalog join catalog.resource on catalog_key = key
    where owner = ${owner} and type = 'REGULAR' and visible_to && ${networkIds} and key is distinct from ${except} and resource.id = any (${ids})`);
}

export async function removeOthers(
  tx: Transaction,
  kind: 'resource' | 'offer',
  catalogKey: number,
  keptIds: readonly string[],
): Promise<number> {
  return tx.count(sql`delete from catalog.${raw(kind)}
    where catalog_key = ${catalogKey} and id not in (select unnest(${keptIds}::text[]))`);
}

export async function countSchemaUses(
  queryable: Queryable,
  catalogKey: number,
  ids: { resources: readonly string[]; offers: readonly string[] },
): Promise<SchemaUses> {
  const rows = await queryable.rows<{ type: string; uses: number }>(sql`with attributes as (
      select coalesce(assembled, own) -> 'resourceAttributes' as value from catalog.resource
      where catalog_key = ${catalogKey} and id = any (${ids.resources})
      union all
      select own -> 'offerAttributes' from catalog.offer where catalog_key = ${catalogKey} and id = any (${ids.offers})
      union all
      select consideration -> 'considerationAttributes'
      from catalog.offer, json_array_elements(own -> 'considerations') as consideration
      where catalog_key = ${catalogKey} and id = any (${ids.offers}) and json_typeof(own -> 'considerations') = 'array'
    )
    select type, count(*) as uses
    from attributes, lateral (values (value ->> '@context'), ((value ->> '@context') || '#' || (value ->> '@type'))) as named (type)
    where type is not null group by type`);
  return Object.fromEntries(rows.map(({ type, uses }) => [type, uses]));
}
