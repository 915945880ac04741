import { bigintArray, integerArray, smallintArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import type { TypingKeys } from '../format/index-format.ts';

// The dictionary: the distinct words of all texts, each with its number, and the keys under which a word is found in spite of typing errors (the symmetric-delete method).

/**
 * The numbers of words; those that are new get one, and those that lack the keys of this version, or are marked to be deleted (sweep-words.ts), get these, too.
 * That happens outside of the transaction, and in one order for everybody, so that nobody waits in a circle.
 */
export async function numberWords(
  tx: Transaction,
  words: ReadonlyMap<string, TypingKeys>,
): Promise<Map<string, number>> {
  const known = await findWords(tx, [...words.keys()]);
  const missing = [...words].filter(([word, { version }]) => (known.get(word)?.keys_version ?? -1) < version);
  if (missing.length > 0) {
    missing.sort(([a], [b]) => (a < b ? -1 : 1));
    const added = await addWords(tx.apart, missing);
    // Another transaction has added these meanwhile. A number that was read before may be that of a word that has been swept since.
    const others = missing.flatMap(([word]) => (added.has(word) ? [] : word));
    for (const [word, row] of [...added, ...(await findWords(tx, others))]) known.set(word, row);
  }
  const numbers = new Map<string, number>();
  for (const [word, { id }] of known) numbers.set(word, id);
  return numbers;
}

/** A word and its keys in one statement: it is never there without them. Returns the words that it has added. */
async function addWords(
  apart: Queryable,
  words: readonly (readonly [string, TypingKeys])[],
): Promise<NumberedWords> {
  const ordinals: number[] = [];
  const hashes: number[] = [];
  for (const [index, [word, typing]] of words.entries()) {
    for (const hash of typing.index(word)) {
      ordinals.push(index + 1);
      hashes.push(hash);
    }
  }
  const { rows } = await apart.query<NumberedWord>(
    `with added as (
       insert into discovery.word (word, keys_version) select * from unnest($1::text[], $4::smallint[])
       on conflict (word) do update set keys_version = excluded.keys_version where word.keys_version < excluded.keys_version
       returning id, word, keys_version
     ), keyed as (
       insert into discovery.deletion (hash, word_id)
       select hash, id from unnest($2::integer[], $3::bigint[]) as key (ordinal, hash)
       join unnest($1::text[]) with ordinality as given (word, ordinal) using (ordinal)
       join added using (word) order by hash, id
       on conflict do nothing
     )
     select id, word, keys_version from added`,
    [
      textArray(words.map(([word]) => word)),
      integerArray(ordinals),
      bigintArray(hashes),
      smallintArray(words.map(([, { version }]) => version)),
    ],
  );
  return byWord(rows);
}

/** Words that have a number, with the version of their keys for typing errors. */
export async function findWords(queryable: Queryable, words: readonly string[]): Promise<NumberedWords> {
  if (words.length === 0) return new Map();
  const { rows } = await queryable.query<NumberedWord>(
    'select id, word, keys_version from discovery.word where word = any ($1)',
    [textArray(words)],
  );
  return byWord(rows);
}

interface NumberedWord {
  id: number;
  word: string;
  keys_version: number;
}

type NumberedWords = Map<string, NumberedWord>;

function byWord(rows: readonly NumberedWord[]): NumberedWords {
  return new Map(rows.map((row) => [row.word, row]));
}

/** The words of a document by their numbers, with what each counts in it, as they are kept with the document. */
export function writeDocumentWords(words: ReadonlyMap<number, number>): Buffer {
  // Number and weight as one number: typed arrays are sorted by value, without calls.
  const packed = new Float64Array(words.size);
  let index = 0;
  for (const [id, weight] of words) packed[index++] = id * 256 + weight;
  packed.sort();
  const bytes = Buffer.allocUnsafe(packed.length * wordBytes);
  let at = 0;
  for (const each of packed) {
    const weight = each % 256;
    bytes.writeInt32BE((each - weight) / 256, at);
    bytes[at + weightAt] = weight;
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
