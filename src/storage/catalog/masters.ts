import type { Extension, MasterResource } from '../../rules/extends.ts';
import type { Queryable, Transaction } from '../database.ts';
import type { InheritedTable } from '../inherited.ts';

// Templates and who extends them. A dependent is assembled while it holds a shared lock on its master's row, which the master's own publish
// needs for itself: so a dependent either sees the new template, or is committed before the new template is, and is found by the rebuild.

/** The table of due work; hints on a channel of the same name tell of new rows in it. */
export const rebuildTable = 'catalog.rebuild';

export const inheritedTable: InheritedTable = {
  name: 'catalog.inherited',
  heir: 'catalog_key',
  heirs: { name: 'catalog.catalog', key: 'key' },
  extending: { name: 'catalog.resource', id: 'id' },
  current: `select catalog_key as master_key, id as master_resource_id, changed_version::bigint as edition, template_bytes as bytes,
    own as template from catalog.resource where is_template`,
};

/** What the catalogs of a publisher inherit together. */
export function sumInherited(queryable: Queryable, publisher: string) {
  return queryable.value<number>(
    'select coalesce(sum(inherited_bytes), 0)::bigint as sum from catalog.catalog where owner = $1 and inherited_bytes > 0',
    [publisher],
  );
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
  const { rows } = await queryable.query<{ id: string; directive: string }>(
    `select id, directive from catalog.resource
     where catalog_key = $1 and directive -> 'variant' is not null
       and md5(md5(master_resource_id) || md5(directive -> 'variant' ->> 'type') || md5(directive -> 'variant' ->> 'id')) = any (array(
         select md5(md5(master_resource_id) || md5(type) || md5(id))
         from unnest($2::text[], $3::text[], $4::text[]) as variant (master_resource_id, type, id)
       ))`,
    [
      catalogKey,
      variants.map((claimed) => claimed.extends.masterResourceId),
      variants.map(({ variant }) => variant.type),
      variants.map(({ variant }) => variant.id),
    ],
  );
  return rows.map(({ id, directive }) => ({ id, extension: JSON.parse(directive) }));
}

/** The master resources of these ids as `findMasters` finds them, with shared locks on their catalogs until the transaction ends. */
export async function holdMasters(
  tx: Transaction,
  masterResourceIds: readonly string[],
): Promise<Map<string, MasterResource[]>> {
  await tx.query(
    `select from catalog.catalog where key in (select catalog_key from catalog.resource where is_template and id = any ($1))
     order by key for share`,
    [masterResourceIds],
  );
  // A statement of its own: it sees what was committed while the lock was waited for.
  return findMasters(tx, masterResourceIds);
}

/** The master resources of these ids, without their content, in the order in which their catalogs were first published. */
export async function findMasters(queryable: Queryable, masterResourceIds: readonly string[]) {
  const { rows } = await queryable.query<TemplateRow>(
    `select resource.id, key as "catalogKey", version, changed_version as edition, template_bytes as bytes, owner,
       visible_to as "networkIds"
     from catalog.resource join catalog.catalog on key = catalog_key
     where is_template and resource.id = any ($1) order by key`,
    [masterResourceIds],
  );
  const masters = new Map<string, MasterResource[]>();
  for (const { owner, ...template } of rows) {
    const master = { ...template, owner: owner ?? undefined };
    masters.set(master.id, [...(masters.get(master.id) ?? []), master]);
  }
  return masters;
}

interface TemplateRow extends Omit<MasterResource, 'owner'> {
  owner: string | null;
}

/** A master resource of this catalog that another publisher has in one of the networks; wants `lockMasterIds`. */
export function findContestedId(
  tx: Transaction,
  { key, owner }: { key: number; owner: string | null },
  networkIds: readonly string[],
) {
  return tx.value<string | undefined>(
    `select own.id from catalog.resource as own
     join catalog.resource as foreign_one on foreign_one.id = own.id and foreign_one.is_template
     join catalog.catalog on key = foreign_one.catalog_key
     where own.catalog_key = $1 and own.is_template and owner <> $2 and visible_to && $3 limit 1`,
    [key, owner, networkIds],
  );
}

/** Those who extend the master's resources are to be assembled anew: one rebuild per master, however often it changes. */
export async function queueRebuild(tx: Transaction, masterKey: number): Promise<void> {
  await tx.query(
    `insert into catalog.rebuild as rebuild (master_key, due_at) values ($1, now())
     on conflict (master_key) do update set due_at = least(rebuild.due_at, now())`,
    [masterKey],
  );
  tx.hint(rebuildTable);
}

/** A catalog with resources that were assembled with an older version of the master. */
export function findLaggingCatalog(queryable: Queryable, masterKey: number) {
  return queryable.value<number | undefined>(
    `select catalog_key as key from catalog.resource
     where master_key = $1 and master_version < (select version from catalog.catalog where key = $1)
     order by master_version, catalog_key limit 1`,
    [masterKey],
  );
}

/** The version of the master, held as it is. */
export function holdMaster(tx: Transaction, masterKey: number) {
  return tx.value<number | undefined>('select version from catalog.catalog where key = $1 for share', [
    masterKey,
  ]);
}

export interface LaggingResource {
  id: string;
  masterResourceId: string;
  /** What it has inherited. */
  edition: number;
  bytes: number;
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
  return queryable.rows<LaggingResource>(
    `select dependent.id, dependent.master_resource_id as "masterResourceId", dependent.edition, coalesce(kept.bytes, 0) as bytes,
       template.changed_version as "nextEdition", template.template_bytes as "nextBytes"
     from catalog.resource as dependent
     left join catalog.inherited as kept using (catalog_key, master_key, master_resource_id, edition)
     left join catalog.resource as template
       on template.catalog_key = $2 and template.id = dependent.master_resource_id and template.is_template
       and (select visible_to from catalog.catalog where key = $1) && (select visible_to from catalog.catalog where key = $2)
     where dependent.catalog_key = $1 and dependent.master_key = $2 and dependent.master_version < $3
     order by dependent.master_version, dependent.catalog_key limit $4`,
    [catalogKey, masterKey, masterVersion, limit],
  );
}

/** These resources are in line with this version of the master as they are. */
export async function noteInLine(
  tx: Transaction,
  catalogKey: number,
  ids: readonly string[],
  masterVersion: number,
): Promise<void> {
  await tx.query('update catalog.resource set master_version = $3 where catalog_key = $1 and id = any ($2)', [
    catalogKey,
    ids,
    masterVersion,
  ]);
}
