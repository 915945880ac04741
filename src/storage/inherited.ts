import { type StoredExtension, type Template, type TemplateContents, templateKey } from '../rules/extends.ts';
import type { Queryable, Transaction } from './database.ts';
import { type Sql, sql } from './sql.ts';

// Templates as the resources of a catalog inherited them: each once for a catalog, with a reference count. The writer holds the lock on the catalog.
// Templates are copied inside the database; they are read only to assemble resources.

/** A resource, the edition of its template that it has inherited, and the size of that. */
export interface Inheriting {
  id: string;
  masterResourceId: string;
  edition: number;
  bytes: number;
}

/** Where the catalogs of one kind keep what they inherit. */
export interface InheritedTable {
  name: Sql;
  /** The column that names the catalog that inherits. */
  heir: Sql;
  heirs: { name: Sql; key: Sql };
  /** The table of the resources that extend others, with the column of their ids. */
  extending: { name: Sql; id: Sql };
  /** The templates as they are now, with the columns master_key, master_resource_id, edition, bytes, template. */
  current: Sql;
}

export async function findExtensions(
  queryable: Queryable,
  { name, heir, extending }: InheritedTable,
  key: number,
  resourceIds: readonly string[],
): Promise<Map<string, StoredExtension>> {
  const rows = await queryable.rows<Omit<Template, 'id'> & Extending & { masterResourceId: string }>(sql`
    select extending.${extending.id} as id, directive, master_resource_id as "masterResourceId", master_key as "catalogKey",
       master_version as version, edition, coalesce(kept.bytes, 0) as bytes
     from ${extending.name} as extending left join ${name} as kept using (${heir}, master_key, master_resource_id, edition)
     where ${heir} = ${key} and extending.${extending.id} = any (${resourceIds}) and master_key is not null`);
  return new Map(
    rows.map(({ id, directive, masterResourceId, ...template }) => [
      id,
      { extension: JSON.parse(directive), template: { id: masterResourceId, ...template } },
    ]),
  );
}

/** Resources of a catalog that extend others, as they were published; JSON texts. */
export function readDependents(
  queryable: Queryable,
  { heir, extending }: InheritedTable,
  key: number,
  ids: readonly string[],
) {
  return queryable.rows<Extending & { own: string }>(sql`
    select ${extending.id} as id, own, directive from ${extending.name} where ${heir} = ${key} and ${extending.id} = any (${ids})`);
}

interface Extending {
  id: string;
  directive: string;
}

interface UseChange {
  template: Template;
  uses: number;
}

/** The changes of the counts; those that cancel out are left out. */
export function sumUses(added: readonly Template[], dropped: readonly Template[]): UseChange[] {
  const changes = new Map<string, UseChange>();
  const count = (template: Template, by: number) => {
    const key = templateKey(template);
    changes.set(key, { template, uses: (changes.get(key)?.uses ?? 0) + by });
  };
  for (const template of added) count(template, 1);
  for (const template of dropped) count(template, -1);
  return [...changes.values()].filter(({ uses }) => uses !== 0);
}

/** Changes the reference counts of a catalog, with the bytes that it inherits, and deletes templates that nothing inherits any more. `isWhole`: all counts start at zero. */
export async function changeUses(
  tx: Transaction,
  { name, heir, heirs, current }: InheritedTable,
  key: number,
  changes: readonly UseChange[],
  { isWhole }: { isWhole: boolean },
): Promise<void> {
  if (changes.length === 0 && !isWhole) return;
  if (isWhole) await tx.query(sql`update ${name} set uses = 0 where ${heir} = ${key}`);
  const [masterKeys, ids, editions] = columnsOf(changes.map(({ template }) => template));
  await tx.query(sql`with change as (
       select * from unnest(${masterKeys}::bigint[], ${ids}::text[], ${editions}::bigint[], ${changes.map(({ uses }) => uses)}::integer[])
         as wanted (master_key, master_resource_id, edition, uses)
     ), counted as (
       update ${name} as kept set uses = kept.uses + change.uses from change
       where kept.${heir} = ${key} and (kept.master_key, kept.master_resource_id, kept.edition)
         = (change.master_key, change.master_resource_id, change.edition)
       returning kept.master_key, kept.master_resource_id, kept.edition
     )
     insert into ${name} (${heir}, master_key, master_resource_id, edition, bytes, uses, template)
     select ${key}, master_key, master_resource_id, edition, template.bytes, change.uses, template.template::json
     from change join (${current}) as template using (master_key, master_resource_id, edition)
     where (master_key, master_resource_id, edition) not in (select * from counted)`);
  await tx.query(sql`delete from ${name} where ${heir} = ${key} and uses <= 0`);
  await tx.query(sql`
    update ${heirs.name} set inherited_bytes = (select coalesce(sum(uses::bigint * bytes), 0) from ${name} where ${heir} = ${key})
    where ${heirs.key} = ${key}`);
}

export async function readTemplates(
  queryable: Queryable,
  { name, heir, current }: InheritedTable,
  key: number | undefined,
  templates: readonly Template[],
): Promise<TemplateContents> {
  const distinct = new Map(templates.map((template) => [templateKey(template), template]));
  const [masterKeys, ids, editions] = columnsOf([...distinct.values()]);
  const rows = await queryable.rows<{ key: string; text: string | null }>(sql`
    select wanted.key, coalesce(kept.template, template.template::json)::text as text
     from unnest(${masterKeys}::bigint[], ${ids}::text[], ${editions}::bigint[], ${[...distinct.keys()]}::text[])
       as wanted (master_key, master_resource_id, edition, key)
     left join ${name} as kept on kept.${heir} = ${key}
       and (kept.master_key, kept.master_resource_id, kept.edition) = (wanted.master_key, wanted.master_resource_id, wanted.edition)
     left join (${current}) as template
       on (template.master_key, template.master_resource_id, template.edition) = (wanted.master_key, wanted.master_resource_id, wanted.edition)`);
  return new Map(rows.flatMap((row) => (row.text === null ? [] : [[row.key, JSON.parse(row.text)]])));
}

function columnsOf(templates: readonly Template[]): unknown[] {
  return [
    templates.map(({ catalogKey }) => catalogKey),
    templates.map(({ id }) => id),
    templates.map(({ edition }) => edition),
  ];
}
