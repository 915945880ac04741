import { createPartCutter, type Part } from '../../rules/push-message.ts';
import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';
import { readDocuments, selectBatch } from './reader.ts';

// The content of a push: read by one statement if it is small, else in one transaction `repeatable read`. Either way all of it belongs to one
// version.

const maxWholeDocuments = 2_048;

interface CatalogHead {
  version: number;
  /** The catalog-level members as JSON text. */
  head: string;
}

interface CatalogWanted {
  changedAfter?: number;
}

/** The head with all wanted documents, or with `part` undefined if they are too many to hold. */
export async function readWhole(
  queryable: Queryable,
  catalogKey: number,
  { changedAfter, maxBytes }: CatalogWanted & { maxBytes: number },
): Promise<CatalogHead & { part: Part | undefined }> {
  const batch = { catalogKey, after: '', afterVersion: changedAfter, limit: maxWholeDocuments, maxBytes };
  const { version, head, resources, offers, complete } = await queryable.one<WholeRow>(sql`
    select version, head, resources.text as resources, offers.text as offers,
      greatest(resources.found, offers.found) < ${maxWholeDocuments} and resources.found = resources.count and offers.found = offers.count
        and coalesce(resources.bytes, 0) + coalesce(offers.bytes, 0) <= ${maxBytes} as complete
    from catalog.catalog, lateral (${selectBatch('resources', batch)}) as resources,
      lateral (${selectBatch('offers', batch)}) as offers
    where key = ${catalogKey}`);
  const list = (text: string | null) => (text === null ? [] : [text]);
  return { version, head, part: complete ? { resources: list(resources), offers: list(offers) } : undefined };
}

interface WholeRow extends CatalogHead {
  resources: string | null;
  offers: string | null;
  complete: boolean;
}

export function readHead(snapshot: Queryable, catalogKey: number) {
  return snapshot.one<CatalogHead>(sql`select version, head from catalog.catalog where key = ${catalogKey}`);
}

/** The documents of a catalog, or those that changed after a version, in parts that are never all in memory. */
export async function* readParts(
  snapshot: Queryable,
  catalogKey: number,
  { changedAfter, partBytes }: CatalogWanted & { partBytes: number },
): AsyncGenerator<Part> {
  const cutter = createPartCutter(partBytes);
  let parts = 0;
  for (const member of ['resources', 'offers'] as const) {
    const wanted = { changedAfter, room: cutter.room };
    for await (const { text, bytes } of readDocuments(snapshot, member, catalogKey, wanted)) {
      const finished = cutter.add({ member, text, bytes });
      if (finished === undefined) continue;
      parts += 1;
      yield finished;
    }
  }
  const rest = cutter.rest();
  if (rest !== undefined) yield rest;
  // Only the head changed.
  else if (parts === 0) yield await readOldest(snapshot, catalogKey);
}

/** The document with the oldest change, unless it changed after the given version. If only the head changed, it is sent with this document, which the receiver most probably has. */
export async function readOldest(snapshot: Queryable, catalogKey: number, upToVersion: number | null = null) {
  const { rows } = await snapshot.query<{ member: keyof Part; document: string }>(sql`
    select member, document from (
      (select 'resources' as member, coalesce(assembled, own) as document, changed_version
       from catalog.resource where catalog_key = ${catalogKey} order by changed_version limit 1)
      union all
      (select 'offers', own, changed_version from catalog.offer where catalog_key = ${catalogKey} order by changed_version limit 1)
    ) as oldest
    where ${upToVersion}::integer is null or changed_version <= ${upToVersion}
    order by changed_version limit 1`);
  const part: Part = { resources: [], offers: [] };
  for (const { member, document } of rows) part[member].push(document);
  return part;
}
