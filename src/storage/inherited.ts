import { type StoredExtension, type Template, type TemplateContents, templateKey } from '../rules/extends.ts';
import type { Queryable, Transaction } from './database.ts';

// Templates as the resources of a catalog inherited them: each once for a catalog, with a reference count. The writer holds the lock on the catalog.
// Templates are copied inside the database; they are read only to assemble resources.

/** Where the catalogs of one kind keep what they inherit. */
export interface InheritedTable {
  name: string;
  /** The column that names the catalog that inherits. */
  heir: string;
  /** The table of these catalogs, and its key. */
  heirs: { name: string; key: string };
  /** The table of the resources that extend others, with the column of their ids. */
  extending: { name: string; id: string };
  /** SQL of the templates as they are now, with the columns master_key, master_resource_id, edition, bytes, template. */
  current: string;
}

/** What these resources of a catalog extend so far, by their ids. */
export async function findExtensions(
  queryable: Queryable,
  { name, heir, extending }: InheritedTable,
  key: number,
  resourceIds: readonly string[],
): Promise<Map<string, StoredExtension>> {
  const rows = await queryable.rows<Omit<Template, 'id'> & Extending & { masterResourceId: string }>(
    `select extending.${extending.id} as id, directive, master_resource_id as "masterResourceId", master_key as "catalogKey",
       master_version as version, edition, coalesce(kept.bytes, 0) as bytes
     from ${extending.name} as extending left join ${name} as kept using (${heir}, master_key, master_resource_id, edition)
     where ${heir} = $1 and extending.${extending.id} = any ($2) and master_key is not null`,
    [key, resourceIds],
  );
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
  return queryable.rows<Extending & { own: string }>(
    `select ${extending.id} as id, own, directive from ${extending.name} where ${heir} = $1 and ${extending.id} = any ($2)`,
    [key, ids],
  );
}

interface Extending {
  id: string;
  directive: string;
}

/** How many resources more, or fewer, inherit a template. */
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
  if (isWhole) await tx.query(`update ${name} set uses = 0 where ${heir} = $1`, [key]);
  await tx.query(
    `with change as (${wanted}), counted as (
       update ${name} as kept set uses = kept.uses + change.uses from change
       where kept.${heir} = $1 and (kept.master_key, kept.master_resource_id, kept.edition)
         = (change.master_key, change.master_resource_id, change.edition)
       returning kept.master_key, kept.master_resource_id, kept.edition
     )
     insert into ${name} (${heir}, master_key, master_resource_id, edition, bytes, uses, template)
     select $1, master_key, master_resource_id, edition, template.bytes, change.uses, template.template::json
     from change join (${current}) as template using (master_key, master_resource_id, edition)
     where (master_key, master_resource_id, edition) not in (select * from counted)`,
    [key, ...columnsOf(changes.map(({ template }) => template)), changes.map(({ uses }) => uses)],
  );
  await tx.query(`delete from ${name} where ${heir} = $1 and uses <= 0`, [key]);
  await tx.query(
    `update ${heirs.name} set inherited_bytes = (select coalesce(sum(uses::bigint * bytes), 0) from ${name} where ${heir} = $1)
     where ${heirs.key} = $1`,
    [key],
  );
}

const wanted = `select * from unnest($2::bigint[], $3::text[], $4::bigint[], $5::integer[])
  as wanted (master_key, master_resource_id, edition, uses)`;

/** The content of templates: as they are now, or as this catalog has kept them. */
export async function readTemplates(
  queryable: Queryable,
  { name, heir, current }: InheritedTable,
  key: number | undefined,
  templates: readonly Template[],
): Promise<TemplateContents> {
  const distinct = new Map(templates.map((template) => [templateKey(template), template]));
  const { rows } = await queryable.query<{ key: string; text: string | null }>(
    `select wanted.key, coalesce(kept.template, template.template::json)::text as text
     from unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[]) as wanted (master_key, master_resource_id, edition, key)
     left join ${name} as kept on kept.${heir} = $1
       and (kept.master_key, kept.master_resource_id, kept.edition) = (wanted.master_key, wanted.master_resource_id, wanted.edition)
     left join (${current}) as template
       on (template.master_key, template.master_resource_id, template.edition) = (wanted.master_key, wanted.master_resource_id, wanted.edition)`,
    [key ?? null, ...columnsOf([...distinct.values()]), [...distinct.keys()]],
  );
  return new Map(rows.flatMap((row) => (row.text === null ? [] : [[row.key, JSON.parse(row.text)]])));
}

function columnsOf(templates: readonly Template[]): unknown[] {
  return [
    templates.map(({ catalogKey }) => catalogKey),
    templates.map(({ id }) => id),
    templates.map(({ edition }) => edition),
  ];
}
