import type { CatalogType } from '../../protocol/catalog.ts';
import type { ProjectText } from '../../rules/strict-form.ts';
import type { Queryable } from '../database.ts';
import { type Sql, sql } from '../sql.ts';

// Catalogs as sent to others: JSON text in pieces, joined from documents that are never parsed (except for a receiver of strict form), so that a page
// of a hundred catalogs with a million resources passes through a process that holds less than a megabyte of it. Everything that belongs together is
// read in one transaction `repeatable read`, one statement at a time.

/** Approximately how much of a catalog is in memory at a time. A single document may be larger. */
const batchBytes = 512 * 1024;
/** Number of documents in the first batch; the next ones depend on the size of the documents read. */
const firstBatch = 256;
const maxBatch = 2_048;

interface CatalogSelection {
  type?: CatalogType;
  /** Empty: every network. */
  networkIds: readonly string[];
  /** All of their names (rules/schema-address.ts). Empty: every schema type. */
  schemaTypes: readonly string[];
  limit: number;
  offset: number;
}

export interface CatalogPage {
  total: number;
  /** A JSON array of the catalogs on this page. Every piece ends at the end of a token. */
  pieces: AsyncIterable<string>;
}

/** The matching catalogs, in the order of first publication; `project` renders them for the caller. */
export async function readCatalogs(snapshot: Queryable, selection: CatalogSelection, project?: ProjectText) {
  const { type, networkIds, schemaTypes, limit, offset } = selection;
  const matching = sql`from catalog.catalog
    where (${type}::text is null or type = ${type})
      and (cardinality(${networkIds}::text[]) = 0 or visible_to && ${networkIds})
      and (cardinality(${schemaTypes}::text[]) = 0 or schema_types && ${schemaTypes})`;
  const total = await snapshot.value<number>(sql`select count(*) ${matching}`);
  const keys = await snapshot.column<number>(sql`select key ${matching}
    order by key limit ${limit} offset ${offset}`);
  return { total, pieces: renderCatalogs(snapshot, keys, project) };
}

async function* renderCatalogs(
  snapshot: Queryable,
  keys: readonly number[],
  project: ProjectText | undefined,
): AsyncGenerator<string> {
  yield '[';
  for (const [index, key] of keys.entries()) {
    if (index > 0) yield ',';
    yield* readCatalog(snapshot, key, project);
  }
  yield ']';
}

export async function* readCatalog(
  snapshot: Queryable,
  key: number,
  project: ProjectText = async (_, text) => text,
): AsyncGenerator<string> {
  const head = await snapshot.value<string | undefined>(sql`select head
    from catalog.catalog where key = ${key}`);
  if (head === undefined) return;
  yield openHead(await project('catalog', head));
  for (const member of ['resources', 'offers'] as const) {
    let open = false;
    for await (const { text } of readDocuments(snapshot, member, key)) {
      yield open ? ',' : `,"${member}":[`;
      yield await project(member, text);
      open = true;
    }
    if (open) yield ']';
  }
  yield '}';
}

/** The head of a catalog, an object with an id, without its closing brace: more members follow. */
export function openHead(head: string): string {
  return head.slice(0, head.lastIndexOf('}'));
}

interface DocumentBatch {
  /** The documents, separated by commas. */
  text: string;
  count: number;
  /** Size of the text in UTF-8, with a comma for each document. */
  bytes: number;
}

interface DocumentsWanted {
  changedAfter?: number;
  /** Called before each batch: the batch has at most this many bytes, unless a single document has more. */
  room?: () => number;
}

export async function* readDocuments(
  snapshot: Queryable,
  kind: 'resources' | 'offers',
  catalogKey: number,
  { changedAfter, room = () => batchBytes }: DocumentsWanted = {},
): AsyncGenerator<DocumentBatch> {
  let [after, afterVersion, averageBytes] = ['', changedAfter, batchBytes / firstBatch];
  for (;;) {
    const maxBytes = Math.min(batchBytes, room());
    const limit = Math.max(1, Math.min(maxBatch, Math.ceil(maxBytes / averageBytes)));
    const wanted = { catalogKey, after, afterVersion, limit, maxBytes };
    const batch = await snapshot.one<BatchRow>(selectBatch(kind, wanted));
    if (batch.count === 0) return;
    const { text, count, bytes } = batch;
    yield { text, count, bytes };
    if (count === batch.found && count < limit) return;
    after = batch.last;
    if (afterVersion !== undefined) afterVersion = batch.lastVersion - 1;
    averageBytes = bytes / count;
  }
}

interface BatchRow extends DocumentBatch {
  last: string;
  lastVersion: number;
  found: number;
}

interface BatchWanted {
  catalogKey: number;
  after: string;
  afterVersion: number | undefined;
  limit: number;
  maxBytes: number;
}

/** Changed documents are ordered by version, so that an index finds a few changes in a huge catalog. Joined by the database: a row per document would cost more than the documents. */
export function selectBatch(
  kind: 'resources' | 'offers',
  { catalogKey, after, afterVersion, limit, maxBytes }: BatchWanted,
): Sql {
  const [table, document] =
    kind === 'resources'
      ? [sql`catalog.resource`, sql`coalesce(assembled, own)`]
      : [sql`catalog.offer`, sql`own`];
  const [order, fromTheEnd, isWanted] =
    afterVersion === undefined
      ? [sql`id`, sql`id desc`, sql`id > ${after}`]
      : [
          sql`changed_version, id`,
          sql`changed_version desc, id desc`,
          sql`(changed_version, id) > (${afterVersion + 1}, ${after})`,
        ];
  return sql`
    with looked_at as materialized (
      select id, changed_version, ${document}::text as document from ${table}
      where catalog_key = ${catalogKey} and ${isWanted} order by ${order} limit ${limit}
    ), measured as (
      select id, changed_version, document, octet_length(document) + 1 as bytes,
        sum(octet_length(document) + 1) over (order by ${order} rows unbounded preceding) as up_to_here
      from looked_at
    )
    select string_agg(document, ',' order by ${order}) as text, count(*) as count, sum(bytes) as bytes,
      (array_agg(id order by ${fromTheEnd}))[1] as last,
      max(changed_version) as "lastVersion", (select count(*) from looked_at) as found
    from measured where up_to_here <= ${maxBytes} or up_to_here = bytes`;
}
