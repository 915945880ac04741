import { createPartCutter, type Part } from '../rules/push-message.ts';
import { readDocuments } from './catalog-reader.ts';
import type { Queryable } from './database.ts';

// What a push carries, read in one transaction `repeatable read`, so that all of it belongs to one version.

export interface CatalogHead {
  version: number;
  /** The catalog-level members as JSON text. */
  head: string;
}

export async function readHead(snapshot: Queryable, catalogKey: number): Promise<CatalogHead> {
  const { rows } = await snapshot.query<CatalogHead>(
    'select version, head from catalog.catalog where key = $1',
    [catalogKey],
  );
  if (rows[0] === undefined) throw new Error(`there is no catalog with key ${catalogKey}`);
  return rows[0];
}

/** The documents of a catalog, or those that changed after a version, in parts that are never all in memory. */
export async function* readParts(
  snapshot: Queryable,
  catalogKey: number,
  { changedAfter, partBytes }: { changedAfter?: number; partBytes: number },
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

/**
 * The one document that changed longest ago. A catalog must have resources or offers, also where only its head has news:
 * then it goes with what the receiver most probably has already.
 */
export async function readOldest(snapshot: Queryable, catalogKey: number): Promise<Part> {
  const { rows } = await snapshot.query<{ member: keyof Part; document: string }>(
    `select member, document from (
       (select 'resources' as member, coalesce(assembled, own) as document, changed_version
        from catalog.resource where catalog_key = $1 order by changed_version limit 1)
       union all
       (select 'offers', own, changed_version from catalog.offer where catalog_key = $1 order by changed_version limit 1)
     ) as oldest
     order by changed_version limit 1`,
    [catalogKey],
  );
  const part: Part = { resources: [], offers: [] };
  for (const { member, document } of rows) part[member].push(document);
  return part;
}
