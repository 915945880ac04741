import { bigintArray, bytesArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import {
  addTargets,
  type DocumentKind,
  forgetTargets,
  type IndexedDocument,
  indexedColumns,
} from '../documents/documents.ts';
import { firstNumbers, keyOf, lastNumbers, numberOf } from '../documents/keys.ts';
import type { IndexFormats } from '../format/index-format.ts';
import { createListRemovals } from '../lists/remove.ts';
import { entriesOfDocument } from '../write/document-entries.ts';
import { createIndexChanges, type PackedEntries } from '../write/index-changes.ts';
import { readEntries } from '../write/stored-entries.ts';
import { formatsOf } from '../write/target.ts';
import { lockCatalog } from './rebuild-catalog.ts';

// The documents of a catalog are numbered in the order of their first arrival. A catalog that replaces its resources again and again comes to the end of its numbers, however few it has:
// then they get the lowest numbers, in the same order. The catalog keeps its own key, so that its position in answers stays. Some documents at a time are moved, in one
// transaction, and the index is whole after each.

/** Catalogs that have used three quarters of their numbers (migrations/0004-discovery.sql has the same bounds). */
export async function findShortOfNumbers(queryable: Queryable): Promise<number[]> {
  const { rows } = await queryable.query<{ key: number }>(
    `select key from discovery.catalog
     where next_resource > ${lastNumbers.resource - reserve} or next_offer > ${lastNumbers.offer - reserve} order by key limit 100`,
  );
  return rows.map(({ key }) => key);
}

/** A quarter of the numbers of resources, or of offers. */
const reserve = 2 ** 23 - 1;

export interface RenumberedPart {
  /** The last document that was looked at had this key. */
  after: number;
  /** And this number is the next one. */
  next: number;
  /** No document follows. */
  isDone: boolean;
}

/** Moves the next documents of a catalog to the lowest numbers, in their order. When all are moved, or the catalog has gone, `next` is free. */
export async function renumberPart(
  tx: Transaction,
  catalogKey: number,
  kind: DocumentKind,
  { formats, maxDocuments, from }: { formats: IndexFormats; maxDocuments: number; from?: RenumberedPart },
): Promise<RenumberedPart> {
  const first = firstNumbers[kind];
  const start = { after: keyOf(catalogKey, first) - 1, next: first };
  const row = await lockCatalog(tx, catalogKey);
  if (row === undefined) return { ...start, isDone: true };
  const { after, next } = from && (await isAsLeft(tx, catalogKey, kind, from)) ? from : start;
  const keys = await readKeysAfter(tx, kind, after, keyOf(catalogKey, lastNumbers[kind]), maxDocuments);
  const newKeys = new Map(keys.map((key, index) => [key, keyOf(catalogKey, next + index)]));
  const documents = await readMoved(tx, kind, newKeys);
  if (documents.length > 0) await moveDocuments(tx, documents, kind, formatsOf(row, formats));
  const part = {
    after: keys.at(-1) ?? after,
    next: next + keys.length,
    isDone: keys.length < maxDocuments,
  };
  if (part.isDone)
    await tx.query(`update discovery.catalog set next_${kind} = $2 where key = $1`, [catalogKey, part.next]);
  return part;
}

/** Otherwise a writer came to the end of the numbers, and has numbered the documents anew since (write/apply-catalogs.ts). */
async function isAsLeft(
  tx: Transaction,
  catalogKey: number,
  kind: DocumentKind,
  { after, next }: RenumberedPart,
): Promise<boolean> {
  const { rows } = await tx.query(`select from discovery.${kind} where key >= $1 and key <= $2 limit 1`, [
    keyOf(catalogKey, next),
    after,
  ]);
  return rows.length === 0;
}

type MovedDocument = IndexedDocument & { newKey: number };

/** In order. A document that went since the part before leaves a number free, and one that came follows all others. */
async function readKeysAfter(
  tx: Transaction,
  kind: DocumentKind,
  after: number,
  last: number,
  limit: number,
): Promise<number[]> {
  const { rows } = await tx.query<{ key: number }>(
    `select key from discovery.${kind} where key > $1 and key <= $2 order by key limit $3`,
    [after, last, limit],
  );
  return rows.map(({ key }) => key);
}

async function readMoved(
  tx: Transaction,
  kind: DocumentKind,
  newKeys: ReadonlyMap<number, number>,
): Promise<MovedDocument[]> {
  const keys = [...newKeys].filter(([key, newKey]) => key !== newKey).map(([key]) => key);
  if (keys.length === 0) return [];
  const { rows } = await tx.query<IndexedDocument>(
    `select ${indexedColumns(kind)} from discovery.${kind} where key = any ($1::bigint[]) order by key`,
    [bigintArray(keys)],
  );
  return rows.map((row) => ({ ...row, newKey: newKeys.get(row.key) ?? row.key }));
}

/** Entries leave first: one that comes may have the key of one that leaves. */
async function moveDocuments(
  tx: Transaction,
  documents: readonly MovedDocument[],
  kind: DocumentKind,
  formatAt: ReturnType<typeof formatsOf>,
): Promise<void> {
  const removals = createListRemovals();
  const [leaving, coming] = [createIndexChanges(), createIndexChanges()];
  for (const { newKey, ...document } of documents) {
    const parsed = JSON.parse(document.document);
    const [from, to] = [formatAt(numberOf(document.key)), formatAt(numberOf(newKey))];
    leaving.add(from, document.key, readEntries(from, kind, document, parsed), undefined);
    coming.add(to, newKey, undefined, entriesOfDocument(to, kind, parsed));
  }
  await leaving.write(tx, removals);
  await removals.write(tx);
  await moveRows(tx, documents, kind, await coming.write(tx, removals));
}

async function moveRows(
  tx: Transaction,
  documents: readonly MovedDocument[],
  kind: DocumentKind,
  packed: ReadonlyMap<number, PackedEntries>,
): Promise<void> {
  const keys = documents.map(({ key }) => key);
  const newKeys = documents.map(({ newKey }) => newKey);
  if (kind === 'offer') await forgetTargets(tx, bigintArray(keys));
  const standing = kind === 'offer' ? ', is_standing = renumbered.is_standing' : '';
  // By way of keys that no document has: of two that follow each other, one may get the key of the other.
  await tx.query(`update discovery.${kind} set key = -key where key = any ($1::bigint[])`, [
    bigintArray(keys),
  ]);
  await tx.query(
    `update discovery.${kind} as document set key = renumbered.new_key, words = renumbered.words${standing}
     from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::boolean[]) as renumbered (key, new_key, words, is_standing)
     where document.key = -renumbered.key`,
    [
      bigintArray(keys),
      bigintArray(newKeys),
      bytesArray(newKeys.map((key) => packed.get(key)?.words ?? null)),
      newKeys.map((key) => packed.get(key)?.isStanding ?? false),
    ],
  );
  if (kind === 'offer') await addTargets(tx, bigintArray(newKeys));
}
