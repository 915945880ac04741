import type { Transaction } from '../../storage/database.ts';
import type { CatalogRef } from '../../storage/feeds/copies.ts';
import type { Generation } from '../generations/in-use.ts';
import { lastNumbers } from '../keys.ts';
import { applyDocuments } from './apply-documents.ts';
import { holdCatalogs, insertCatalogs, updateCatalogs } from './catalog-rows.ts';
import { moveOffers } from './document-rows.ts';
import type { Removals } from './removals.ts';
import { type RenumberedPart, renumberPart } from './renumber.ts';
import { type IncomingCatalog, type Target, targetOf, type UnindexedGeometry } from './target.ts';

// How catalogs come into the index, in one transaction of the caller:
//
//   hold       the catalogs' rows are locked; new catalogs get keys
//   make room  documents of a catalog that has come to the end of its numbers are numbered again (renumber.ts)
//   compare    digests tell which documents are new, changed or to go; the others are not touched (plan-steps.ts)
//   write      documents, and of the index only what differs between the old document and the new one (apply-documents.ts, index-changes.ts)
//   update     the catalogs' rows, or insert them: members, networks, schema types, validity
//   remove     what leaves lists goes last, at the end of the unit of work (write-index.ts)

export interface AppliedCatalog extends CatalogRef {
  key: number;
  /** Whether it was held before. */
  known: boolean;
  /** Resources and offers that were new or changed, and those that went. */
  written: number;
  removed: number;
  unindexed: readonly UnindexedGeometry[];
}

/** Applies catalogs, no (source, owner, id) twice in a call. Afterwards they are served. */
export async function applyCatalogs(
  tx: Transaction,
  incoming: readonly IncomingCatalog[],
  generations: readonly Generation[],
  removals: Removals,
  now: Date,
): Promise<AppliedCatalog[]> {
  const refs = incoming.map(({ source, owner, catalog: { id } }) => ({ source, owner, id }));
  const newest = generations.at(-1)?.number ?? 0;
  const held = new Map((await holdCatalogs(tx, refs, newest)).map((row) => [refText(row), row]));
  const targets = incoming.flatMap((one) => {
    const before = held.get(refText({ ...one, id: one.catalog.id }));
    return before ? [targetOf(one, before, generations)] : [];
  });
  for (const target of targets) await makeRoom(tx, target, removals);
  await applyDocuments(tx, targets, generations, removals);
  for (const { row, before } of targets)
    if (before.known && before.provider_id !== row.provider_id)
      await moveOffers(tx, row.key, row.provider_id);
  await writeRows(tx, targets, now);
  return targets.map(({ before: { source, owner, id, key, known }, written, removed, unindexed }) => ({
    ...{ source, owner, id, key, known },
    ...{ written, removed, unindexed },
  }));
}

async function writeRows(tx: Transaction, targets: readonly Target[], now: Date): Promise<void> {
  const held = targets.filter(({ before }) => before.hasRow);
  await updateCatalogs(
    tx,
    held.map(({ row }) => row),
    now,
  );
  const added = targets.filter(({ before }) => !before.hasRow);
  await insertCatalogs(
    tx,
    added.map(({ row, before: { source, owner, id, generation } }) => ({
      ...row,
      ...{ source, owner, id, generation },
    })),
    now,
  );
}

/** A catalog that has come to the end of its numbers uses the lowest ones again. */
async function makeRoom(
  tx: Transaction,
  { incoming: { catalog }, row, generations }: Target,
  removals: Removals,
): Promise<void> {
  for (const kind of ['resource', 'offer'] as const) {
    const column = `next_${kind}` as const;
    const wanted = catalog[`${kind}s` as const]?.length ?? 0;
    if (row[column] + wanted - 1 <= lastNumbers[kind]) continue;
    // Documents get keys that others had: what is to leave lists under these has to leave first.
    await removals.write(tx);
    let part: RenumberedPart | undefined;
    while (!part?.isDone)
      part = await renumberPart(tx, row.key, kind, {
        generations,
        maxDocuments: renumberedAtOnce,
        from: part,
      });
    row[column] = part.next;
  }
}

const renumberedAtOnce = 2_000;

function refText({ source, owner, id }: CatalogRef): string {
  return JSON.stringify([source, owner, id]);
}
