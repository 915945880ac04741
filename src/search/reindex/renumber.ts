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
// then they get the lowest numbers, in the same order. The catalog keeps its own key, so that its place in answers stays. Some documents at a time are moved, in one
// transaction, and the index is whole after each.

/** Catalogs that have used three quarters of their numbers (migrations/0025-index-keys.sql). */
export async function findShortOfNumbers(queryable: Queryable): Promise<number[]> {
  const { rows } = await queryable.query<{ key: number }>(
    'select key from discovery.catalog where next_resource > 25165824 or next_offer > 58720256 order by key limit 100',
  );
  return rows.map(({ key }) => key);
}

/** Moves the next documents of a catalog to the numbers that they have in its order. Returns the next number that is free, when all are moved, or the catalog has gone. */
export async function renumberPart(
  tx: Transaction,
  catalogKey: number,
  kind: DocumentKind,
  { formats, maxDocuments }: { formats: IndexFormats; maxDocuments: number },
): Promise<number | undefined> {
  const row = await lockCatalog(tx, catalogKey);
  if (row === undefined) return firstNumbers[kind];
  const documents = await findMisplaced(tx, catalogKey, kind, maxDocuments);
  if (documents.length > 0) await moveDocuments(tx, documents, kind, formatsOf(row, formats));
  if (documents.length === maxDocuments) return undefined;
  const { rows } = await tx.query<{ next: number }>(
    `update discovery.catalog set next_${kind} = $2 + (
       select count(*) from discovery.${kind} where key between $3 and $4
     ) where key = $1 returning next_${kind} as next`,
    [
      catalogKey,
      firstNumbers[kind],
      keyOf(catalogKey, firstNumbers[kind]),
      keyOf(catalogKey, lastNumbers[kind]),
    ],
  );
  return rows[0]?.next;
}

type Misplaced = IndexedDocument & { moved: number };

/** In order: those before them stand where they shall. */
async function findMisplaced(
  tx: Transaction,
  catalogKey: number,
  kind: DocumentKind,
  limit: number,
): Promise<Misplaced[]> {
  const { rows } = await tx.query<Misplaced>(
    `select ${indexedColumns(kind)}, moved from (
       select key, $1::bigint + row_number() over (order by key) - 1 as moved from discovery.${kind} where key between $1 and $2
     ) as numbered join discovery.${kind} using (key)
     where key <> moved order by key limit $3`,
    [keyOf(catalogKey, firstNumbers[kind]), keyOf(catalogKey, lastNumbers[kind]), limit],
  );
  return rows;
}

/** Entries leave first: one that comes may have the key of one that leaves. */
async function moveDocuments(
  tx: Transaction,
  documents: readonly Misplaced[],
  kind: DocumentKind,
  formatAt: ReturnType<typeof formatsOf>,
): Promise<void> {
  const removals = createListRemovals();
  const [leaving, coming] = [createIndexChanges(), createIndexChanges()];
  for (const { moved, ...document } of documents) {
    const parsed = JSON.parse(document.document);
    const [from, to] = [formatAt(numberOf(document.key)), formatAt(numberOf(moved))];
    leaving.add(from, document.key, readEntries(from, kind, document, parsed), undefined);
    coming.add(to, moved, undefined, entriesOfDocument(to, kind, parsed));
  }
  await leaving.numberWords(tx);
  const packed = await coming.numberWords(tx);
  await leaving.write(tx, removals);
  await removals.write(tx);
  await moveRows(tx, documents, kind, packed);
  await coming.write(tx, removals);
}

async function moveRows(
  tx: Transaction,
  documents: readonly Misplaced[],
  kind: DocumentKind,
  packed: ReadonlyMap<number, PackedEntries>,
): Promise<void> {
  const [keys, moved] = [documents.map(({ key }) => key), documents.map((each) => each.moved)];
  if (kind === 'offer') await forgetTargets(tx, bigintArray(keys));
  const entries = kind === 'resource' ? ', entries = placed.entries' : '';
  // By way of keys that nobody has: of two that follow each other, one may get the key of the other.
  await tx.query(`update discovery.${kind} set key = -key where key = any ($1::bigint[])`, [
    bigintArray(keys),
  ]);
  await tx.query(
    `update discovery.${kind} as document set key = placed.moved, words = placed.words${entries}
     from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[]) as placed (key, moved, words, entries)
     where document.key = -placed.key`,
    [
      bigintArray(keys),
      bigintArray(moved),
      bytesArray(moved.map((key) => packed.get(key)?.words ?? null)),
      bytesArray(moved.map((key) => packed.get(key)?.entries ?? null)),
    ],
  );
  if (kind === 'offer') await addTargets(tx, bigintArray(moved));
}
