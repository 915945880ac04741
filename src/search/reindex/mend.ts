import { addTo } from '../../group.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { addTargets, forgetTargets, readDocuments } from '../documents/documents.ts';
import { catalogKeyOf, kindOf } from '../documents/keys.ts';
import { addObjectPaths } from '../filter/object-paths.ts';
import type { IndexFormats } from '../format/index-format.ts';
import type { ListEntries } from '../lists/runs.ts';
import { replaceGeometries } from '../spatial/write-geometries.ts';
import { createIndexUnit } from '../write/index-unit.ts';
import { writeReach } from '../write/reach.ts';
import type { Difference } from './compare-lists.ts';
import { type KindOfDocument, lockCatalog, renewDocuments } from './rebuild-catalog.ts';

// Differences are mended by making the entries of their documents anew, under the lock of the catalog: what was written since they were found is seen, and mended
// with the rest or left as it is.

/** Mends documents by their differences, and returns how many; each catalog in a transaction of its own. */
export async function mendDocuments(
  database: Database,
  formats: IndexFormats,
  differences: readonly Difference[],
): Promise<number> {
  const catalogs = new Map<number, Difference[]>();
  for (const difference of differences) addTo(catalogs, catalogKeyOf(difference.key), difference);
  let mended = 0;
  for (const [catalogKey, theirs] of catalogs) {
    const keys = [...new Set(theirs.map(({ key }) => key))];
    await database.transaction((tx) => mendCatalog(tx, formats, catalogKey, keys, theirs));
    mended += keys.length;
  }
  return mended;
}

async function mendCatalog(
  tx: Transaction,
  formats: IndexFormats,
  catalogKey: number,
  keys: readonly number[],
  differences: readonly Difference[],
): Promise<void> {
  const row = await lockCatalog(tx, catalogKey);
  const documents = row?.isKnown ? await readKinds(tx, keys) : [];
  const surplus = surplusOf(differences);
  const withHead = keys.some((key) => kindOf(key) === 'catalog');
  const present = new Set(documents.map(({ key }) => key));
  const gone = keys.filter((key) => !present.has(key) && !(row?.isKnown && kindOf(key) === 'catalog'));
  await replaceGeometries(tx, gone, []);
  await addObjectPaths(
    tx,
    differences.flatMap((each) => (each.what === 'object path' && each.name !== undefined ? each.name : [])),
  );
  await mendLookups(tx, differences);
  const copies = copiesOf(differences);
  const unit = createIndexUnit();
  if (row) unit.siblings.note({ key: row.key, owner: row.owner, now: row.provider_id });
  await unit.write(tx);
  if (row && withHead) await writeReach(tx, { from: row.key, end: row.key + 1 });
  if (row) return renewDocuments(tx, row, { documents, formats, withHead, surplus, copies });
  const { removals } = unit;
  for (let copy = 0; copy < copies; copy++) {
    await removals.add(tx, surplus);
    await removals.write(tx);
  }
}

/** What leads to words and offers. A word without a version of its keys gets them when its document is indexed. */
async function mendLookups(tx: Transaction, differences: readonly Difference[]): Promise<void> {
  const words = differences.flatMap((each) => (each.what === 'typing key' ? (each.name ?? []) : []));
  if (words.length > 0)
    await tx.apart.query('update discovery.word set keys_version = -1 where word = any ($1::text[])', [
      words,
    ]);
  const offers = differences.flatMap(({ what, key }) => (what === 'offer target' ? key : []));
  await forgetTargets(tx, bigintArray(offers));
  await addTargets(tx, bigintArray(offers));
}

async function readKinds(tx: Transaction, keys: readonly number[]): Promise<KindOfDocument[]> {
  const found: KindOfDocument[] = [];
  for (const kind of ['resource', 'offer'] as const) {
    const theirs = keys.filter((key) => kindOf(key) === kind);
    for (const document of (await readDocuments(tx, kind, theirs)).values())
      found.push({ ...document, kind });
  }
  return found;
}

function surplusOf(differences: readonly Difference[]): ListEntries[] {
  return differences.flatMap((each) =>
    each.what === 'list' && each.kind === 'surplus'
      ? [{ list: each.list, keys: [each.key], marks: [each.mark] }]
      : [],
  );
}

/** One that stands in a list twice is found once too often; to take it out takes one copy out. */
function copiesOf(differences: readonly Difference[]): number {
  const counts = new Map<string, number>();
  for (const each of differences) {
    if (each.what !== 'list' || each.kind !== 'surplus') continue;
    const name = `${each.list} ${each.key} ${each.mark}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return 1 + Math.max(0, ...counts.values());
}
