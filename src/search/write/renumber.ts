import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import type { Generation } from '../generations/in-use.ts';
import { firstNumbers, keyOf, lastNumbers } from '../keys.ts';
import { addTargets, type DocumentKind, forgetTargets, readDocuments } from './document-rows.ts';
import { createIndexChanges } from './index-changes.ts';
import { createRemovals } from './removals.ts';

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

interface RenumberOptions {
  /** That the catalog is in. */
  generations: readonly Generation[];
  maxDocuments: number;
  from?: RenumberedPart;
}

/** Moves the next documents of a catalog to the lowest numbers, in their order. When all are moved, or the catalog has gone, `next` is free. */
export async function renumberPart(
  tx: Transaction,
  catalogKey: number,
  kind: DocumentKind,
  { generations, maxDocuments, from }: RenumberOptions,
): Promise<RenumberedPart> {
  const first = firstNumbers[kind];
  const start = { after: keyOf(catalogKey, first) - 1, next: first };
  const { rowCount } = await tx.query('select from discovery.catalog where key = $1 for update', [
    catalogKey,
  ]);
  if (rowCount === 0) return { ...start, isDone: true };
  const { after, next } = from && (await isAsLeft(tx, catalogKey, kind, from)) ? from : start;
  const keys = await readKeysAfter(tx, kind, after, keyOf(catalogKey, lastNumbers[kind]), maxDocuments);
  const newKeys = new Map(keys.map((key, index) => [key, keyOf(catalogKey, next + index)]));
  const moved = new Map([...newKeys].filter(([key, newKey]) => key !== newKey));
  if (moved.size > 0) await moveDocuments(tx, kind, moved, generations);
  const part = {
    after: keys.at(-1) ?? after,
    next: next + keys.length,
    isDone: keys.length < maxDocuments,
  };
  if (part.isDone)
    await tx.query(`update discovery.catalog set next_${kind} = $2 where key = $1`, [catalogKey, part.next]);
  return part;
}

/** Otherwise a writer came to the end of the numbers, and has numbered the documents again since (apply-catalogs.ts). */
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

/** Entries leave first: one that comes may have the key of one that leaves. */
async function moveDocuments(
  tx: Transaction,
  kind: DocumentKind,
  newKeys: ReadonlyMap<number, number>,
  generations: readonly Generation[],
): Promise<void> {
  const documents = await readDocuments(tx, kind, [...newKeys.keys()]);
  const removals = createRemovals(generations);
  for (const generation of generations) {
    const [leaving, coming] = [createIndexChanges(generation), createIndexChanges(generation)];
    for (const [key, document] of documents) {
      leaving.add(key, document, undefined);
      coming.add(newKeys.get(key) ?? key, undefined, document);
    }
    await leaving.write(tx, removals.of(generation));
    await removals.of(generation).write(tx);
    await coming.write(tx, removals.of(generation));
  }
  await moveRows(tx, kind, newKeys);
}

async function moveRows(
  tx: Transaction,
  kind: DocumentKind,
  newKeys: ReadonlyMap<number, number>,
): Promise<void> {
  const [from, to] = [bigintArray([...newKeys.keys()]), bigintArray([...newKeys.values()])];
  if (kind === 'offer') await forgetTargets(tx, from);
  // By way of keys that no document has: of two that follow each other, one may get the key of the other.
  await tx.query(`update discovery.${kind} set key = -key where key = any ($1::bigint[])`, [from]);
  await tx.query(
    `update discovery.${kind} as document set key = renumbered.new_key
     from unnest($1::bigint[], $2::bigint[]) as renumbered (key, new_key) where document.key = -renumbered.key`,
    [from, to],
  );
  if (kind === 'offer') await addTargets(tx, to);
}
