import { textArray } from '../binary-arrays.ts';
import type { Queryable, Transaction } from '../database.ts';
import type { SchemaUses } from './catalogs.ts';

// The resources and offers of a catalog, written in bulk: one statement for all of them, and a row that would not change is not touched, so
// that `changed_version` says when what leaves the service last changed.

export interface ResourceRow {
  id: string;
  /** JSON texts, as everything below that is called so by its type. */
  own: string;
  /** Null when nothing is inherited. */
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

export interface WriteTarget {
  key: number;
  version: number;
  /** The catalog has just been inserted: nothing can be in the way, and the database need not look. */
  isNew?: boolean;
}

export async function writeResources(
  tx: Transaction,
  catalog: WriteTarget & { isTemplate: boolean },
  rows: readonly ResourceRow[],
): Promise<Written> {
  if (rows.length === 0) return { inserted: 0, updated: 0 };
  return counted(
    await tx.query<Written>(
      `with written as (
         insert into catalog.resource as resource
           (catalog_key, changed_version, is_template, template_bytes, id, own, assembled, directive,
            master_key, master_resource_id, master_version, edition)
         select $1, $2, $3, case when $3 then octet_length(own) end, id, own::json, assembled::json, directive::json,
           master_key, master_resource_id, master_version, edition
         from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::integer[], $11::bigint[])
           as incoming (id, own, assembled, directive, master_key, master_resource_id, master_version, edition)
         ${catalog.isNew ? '' : updateResource}
         returning xmax = 0 as inserted, changed_version = $2 as changed
       )
       select count(*) filter (where inserted) as inserted, count(*) filter (where changed and not inserted) as updated from written`,
      [
        ...[catalog.key, catalog.version, catalog.isTemplate],
        textArray(rows.map(({ id }) => id)),
        textArray(rows.map(({ own }) => own)),
        textArray(column(rows, ({ assembled }) => assembled)),
        textArray(column(rows, ({ extension }) => extension?.directive)),
        column(rows, ({ extension }) => extension?.masterKey),
        textArray(column(rows, ({ extension }) => extension?.masterResourceId)),
        column(rows, ({ extension }) => extension?.masterVersion),
        column(rows, ({ extension }) => extension?.edition),
      ],
    ),
  );
}

/** The version of the last change is that of what leaves the service, not of what lies behind it. */
const updateResource = `
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

/** Empty where no row has a value: most resources extend nothing, and what is missing from an array is unnested as null. */
function column<T>(
  rows: readonly ResourceRow[],
  read: (row: ResourceRow) => T | null | undefined,
): (T | null)[] {
  const values = rows.map((row) => read(row) ?? null);
  return values.every((value) => value === null) ? [] : values;
}

export async function writeOffers(tx: Transaction, catalog: WriteTarget, rows: readonly OfferRow[]) {
  if (rows.length === 0) return { inserted: 0, updated: 0 };
  return counted(
    await tx.query<Written>(
      `with written as (
         insert into catalog.offer as offer (catalog_key, changed_version, id, own)
         select $1, $2, id, own::json from unnest($3::text[], $4::text[]) as incoming (id, own)
         ${catalog.isNew ? '' : updateOffer}
         returning xmax = 0 as inserted
       )
       select count(*) filter (where inserted) as inserted, count(*) filter (where not inserted) as updated from written`,
      [
        ...[catalog.key, catalog.version],
        textArray(rows.map(({ id }) => id)),
        textArray(rows.map(({ own }) => own)),
      ],
    ),
  );
}

const updateOffer = `
  on conflict (catalog_key, id) do update set own = excluded.own, changed_version = excluded.changed_version
    where offer.own::text is distinct from excluded.own::text`;

function counted({ rows: [row] }: { rows: Written[] }): Written {
  return row ?? { inserted: 0, updated: 0 };
}

/** Which of these resources a catalog holds. */
export async function findResourceIds(queryable: Queryable, catalogKey: number, ids: readonly string[]) {
  const found = await queryable.column<string>(
    'select id from catalog.resource where catalog_key = $1 and id = any ($2)',
    [catalogKey, ids],
  );
  return new Set(found);
}

/** Which of these resources the catalogs of an owner hold that are visible to one of these networks, leaving one catalog out. */
export function findResourceIdsOf(
  queryable: Queryable,
  owner: string,
  { networkIds, ids, except }: { networkIds: readonly string[]; ids: readonly string[]; except?: number },
) {
  return queryable.column<string>(
    `select distinct resource.id from catalog.catalog join catalog.resource on catalog_key = key
     where owner = $1 and type = 'REGULAR' and visible_to && $2 and key is distinct from $3 and resource.id = any ($4)`,
    [owner, networkIds, except ?? null, ids],
  );
}

/** Removes what is not among the ids; returns how many documents went. */
export async function removeOthers(
  tx: Transaction,
  kind: 'resource' | 'offer',
  catalogKey: number,
  keptIds: readonly string[],
): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from catalog.${kind} where catalog_key = $1 and id not in (select unnest($2::text[]))`,
    [catalogKey, keptIds],
  );
  return rowCount;
}

/** How often the documents of these ids, as they are stored now, use each schema type. */
export async function countSchemaUses(
  queryable: Queryable,
  catalogKey: number,
  ids: { resources: readonly string[]; offers: readonly string[] },
): Promise<SchemaUses> {
  const { rows } = await queryable.query<{ type: string; uses: number }>(
    `with attributes as (
       select coalesce(assembled, own) -> 'resourceAttributes' as value from catalog.resource
       where catalog_key = $1 and id = any ($2)
       union all
       select own -> 'offerAttributes' from catalog.offer where catalog_key = $1 and id = any ($3)
       union all
       select consideration -> 'considerationAttributes'
       from catalog.offer, json_array_elements(own -> 'considerations') as consideration
       where catalog_key = $1 and id = any ($3) and json_typeof(own -> 'considerations') = 'array'
     )
     select type, count(*) as uses
     from attributes, lateral (values (value ->> '@context'), ((value ->> '@context') || '#' || (value ->> '@type'))) as named (type)
     where type is not null group by type`,
    [catalogKey, ids.resources, ids.offers],
  );
  return Object.fromEntries(rows.map(({ type, uses }) => [type, uses]));
}
