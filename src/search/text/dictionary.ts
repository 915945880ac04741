import { bigintArray, integerArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';

// The distinct words of all texts, each with its number, and the keys that forgive typing errors in them.

/**
 * The numbers of words; those that are new get one. They are only ever added: one that nobody uses any more finds nothing. That happens
 * outside of the transaction, and in one order for everybody, so that nobody waits in a circle.
 */
export async function numberWords(
  tx: Transaction,
  words: readonly string[],
  typingKeysOf: (word: string) => Iterable<number>,
): Promise<Map<string, number>> {
  const numbers = await findWordNumbers(tx, words);
  const missing = words.filter((word) => !numbers.has(word)).sort();
  if (missing.length === 0) return numbers;
  await addWords(tx.apart, missing, typingKeysOf);
  for (const [word, number] of await findWordNumbers(tx, missing)) numbers.set(word, number);
  return numbers;
}

/** A word and its keys in one statement: it is never there without them. */
async function addWords(
  apart: Queryable,
  words: readonly string[],
  typingKeysOf: (word: string) => Iterable<number>,
): Promise<void> {
  const keys = words.flatMap((word, index) =>
    Array.from(typingKeysOf(word), (hash) => ({ place: index + 1, hash })),
  );
  await apart.query(
    `with added as (insert into discovery.word (word) select unnest($1::text[]) on conflict do nothing returning id, word)
     insert into discovery.deletion (hash, word_id)
     select hash, id from unnest($2::integer[], $3::bigint[]) as key (place, hash)
     join unnest($1::text[]) with ordinality as given (word, place) using (place)
     join added using (word) order by hash, id
     on conflict do nothing`,
    [
      textArray(words),
      integerArray(keys.map(({ place }) => place)),
      bigintArray(keys.map(({ hash }) => hash)),
    ],
  );
}

export async function findWordNumbers(
  queryable: Queryable,
  words: readonly string[],
): Promise<Map<string, number>> {
  if (words.length === 0) return new Map();
  const { rows } = await queryable.query<{ id: number; word: string }>(
    'select id, word from discovery.word where word = any ($1)',
    [textArray(words)],
  );
  return new Map(rows.map(({ id, word }) => [word, id]));
}

/** The words of a document by their numbers, with what each counts in it, as they are kept with the document. */
export function writeDocumentWords(words: ReadonlyMap<number, number>): Buffer {
  const bytes = Buffer.allocUnsafe(words.size * wordBytes);
  let at = 0;
  for (const [id, weight] of [...words].sort(([a], [b]) => a - b)) {
    bytes.writeInt32BE(id, at);
    bytes.writeUInt8(weight, at + weightAt);
    at += wordBytes;
  }
  return bytes;
}

/** Visits each word of a document. */
export function readDocumentWords(bytes: Buffer, visit: (id: number, weight: number) => void): void {
  for (let at = 0; at < bytes.length; at += wordBytes) {
    visit(bytes.readInt32BE(at), bytes.readUInt8(at + weightAt));
  }
}

const wordBytes = 5;
const weightAt = 4;
