import { addTo } from '../../group.ts';
import type { Extension, MasterResource } from '../../rules/extends.ts';
import type { Queryable, Transaction } from '../database.ts';
import type { InheritedTable, Inheriting } from '../inherited.ts';
import { sql } from '../sql.ts';

// Templates and who extends them. A dependent is assembled while it holds a shared lock on its master's row, which the master's own publish
// needs for itself: so a dependent either sees the new template, or is committed before the new template is, and is found by the rebuild.

export const rebuildTable = 'catalog.rebuild';

export const inheritedTable: InheritedTable = {
  name: sql`catalog.inherited`,
  heir: sql`catalog_key`,
  heirs: { name: sql`catalog.catalog`, key: sql`key` },
  extending: { name: sql`catalog.resource`, id: sql`id` },
  current: sql`select catalog_key as master_key, id as master_resource_id, changed_version::bigint as edition, template_bytes as bytes,
    own as template from catalog.resource where is_template`,
};

export function sumInherited(queryable: Queryable, publisher: string) {
  return queryable.value<number>(sql`select coalesce(sum(inherited_bytes), 0)::bigint as sum
    from catalog.catalog where owner = ${publisher} and inherited_bytes > 0`);
}

/** MASTER catalogs are published one at a time, so that a master resource id has one first publisher. */
export async function lockMasterIds(tx: Transaction): Promise<void> {
  await tx.query("select pg_advisory_xact_lock(hashtextextended('master resource ids', 0))");
}

/** The resources of a catalog that are one of these variants, which its index of variants knows by their hash. */
export async function findVariants(
  queryable: Queryable,
  catalogKey: number,
  variants: readonly Required<Extension>[],
): Promise<{ id: string; extension: Extension }[]> {
  const { rows } = await queryable.query<{ id: string; directive: string }>(sql`
    select id, directive from catalog.resource
    where catalog_key = ${catalogKey} and directive -> 'variant' is not null
      and md5(md5(master_resource_id) || md5(directive -> 'variant' ->> 'type') || md5(directive -> 'variant' ->> 'id')) = any (array(
        select md5(md5(master_resource_id) || md5(type) || md5(id))
        from unnest(${variants.map((claimed) => claimed.extends.masterResourceId)}::text[],
          ${variants.map(({ variant }) => variant.type)}::text[],
          ${variants.map(({ variant }) => variant.id)}::text[]) as variant (master_resource_id, type, id)
      ))`);
  return rows.map(({ id, directive }) => ({ id, extension: JSON.parse(directive) }));
}

/** The master resources of these ids as `findMasters` finds them, with shared locks on their catalogs until the transaction ends. */
export async function holdMasters(tx: Transaction, masterResourceIds: readonly string[]) {
  await tx.query(sql`select from catalog.catalog
    where key in (select catalog_key from catalog.resource where is_template and id = any (${masterResourceIds})) order by key for share`);
  // A statement of its own: it sees what was committed while the lock was waited for.
  return findMasters(tx, masterResourceIds);
}

export async function findMasters(queryable: Queryable, masterResourceIds: readonly string[]) {
  const rows = await queryable.rows<Omit<MasterResource, 'owner'> & { owner: string | null }>(sql`
    select resource.id, key as "catalogKey", version, changed_version as edition, template_bytes as bytes, owner,
      visible_to as "networkIds"
    from catalog.resource join catalog.catalog on key = catalog_key
    where is_template and resource.id = any (${masterResourceIds}) order by key`);
  const masters = new Map<string, MasterResource[]>();
  for (const { owner, ...template } of rows) {
    addTo(masters, template.id, { ...template, owner: owner ?? undefined });
  }
  return masters;
}

/** A master resource of this catalog that another publisher has in one of the networks; wants `lockMasterIds`. */
export function findContestedId(
  tx: Transaction,
  { key, owner }: { key: number; owner: string | null },
  networkIds: readonly string[],
) {
  return tx.value<string | undefined>(sql`select own.id from catalog.resource as own
    join catalog.resource as foreign_one on foreign_one.id = own.id and foreign_one.is_template
    join catalog.catalog on key = foreign_one.catalog_key
    where own.catalog_key = ${key} and own.is_template and owner <> ${owner} and visible_to && ${networkIds} limit 1`);
}

/** Queues the assembly of all dependents of the master: one rebuild per master, however often it changes. */
export async function queueRebuild(tx: Transaction, masterKey: number): Promise<void> {
  await tx.query(sql`insert into catalog.rebuild as rebuild (master_key, due_at) values (${masterKey}, now())
    on conflict (master_key) do update set due_at = least(rebuild.due_at, now())`);
  tx.hint(rebuildTable);
}

export function findLaggingCatalog(queryable: Queryable, masterKey: number) {
  return queryable.value<number | undefined>(sql`select catalog_key as key from catalog.resource
    where master_key = ${masterKey} and master_version < (select version from catalog.catalog where key = ${masterKey})
    order by master_version, catalog_key limit 1`);
}

export function holdMaster(tx: Transaction, masterKey: number) {
  return tx.value<number | undefined>(sql`select version from catalog.catalog
    where key = ${masterKey} for share`);
}

export interface LaggingResource extends Inheriting {
  /** The template as it is now; null when the master has dropped it, or has gone to other networks. */
  nextEdition: number | null;
  nextBytes: number | null;
}

/** Resources of a catalog that were assembled with an older version of the master, with their current templates. In the order of the index, so that every batch costs the same. */
export function findLaggingResources(
  queryable: Queryable,
  {
    catalogKey,
    masterKey,
    masterVersion,
    limit,
  }: { catalogKey: number; masterKey: number; masterVersion: number; limit: number },
) {
  return queryable.rows<LaggingResource>(sql`
    select dependent.id, dependent.master_resource_id as "masterResourceId", dependent.edition, coalesce(kept.bytes, 0) as bytes,
      template.changed_version as "nextEdition", template.template_bytes as "nextBytes"
    from catalog.resource as dependent
    left join catalog.inherited as kept using (catalog_key, master_key, master_resource_id, edition)
    left join catalog.resource as template
      on template.catalog_key = ${masterKey} and template.id = dependent.master_resource_id and template.is_template
      and (select visible_to from catalog.catalog where key = ${catalogKey}) && (select visible_to from catalog.catalog where key = ${masterKey})
    where dependent.catalog_key = ${catalogKey} and dependent.master_key = ${masterKey} and dependent.master_version < ${masterVersion}
    order by dependent.master_version, dependent.catalog_key limit ${limit}`);
}

export async function noteInLine(
  tx: Transaction,
  catalogKey: number,
  ids: readonly string[],
  masterVersion: number,
): Promise<void> {
  await tx.query(sql`update catalog.resource set master_version = ${masterVersion}
    where catalog_key = ${catalogKey} and id = any (${ids})`);
}
