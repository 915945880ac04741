import { bigintArray, integerArray, smallintArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import type { TypingKeys } from '../format/index-format.ts';

// The dictionary: the distinct words of all texts, each with its number, and the keys under which a word is found in spite of typing errors (the symmetric-delete method).

/**
 * The numbers of words; those that are new get one, and those that lack the keys of this version get these, too. Words are only ever added: one that
 * nobody uses any more finds nothing. That happens outside of the transaction, and in one order for everybody, so that nobody waits in a circle.
 */
export async function numberWords(
  tx: Transaction,
  words: ReadonlyMap<string, TypingKeys>,
): Promise<Map<string, number>> {
  const known = await findWords(tx, [...words.keys()]);
  const missing = [...words].filter(([word, { version }]) => (known.get(word)?.keys_version ?? -1) < version);
  if (missing.length > 0) {
    await addWords(
      tx.apart,
      missing.sort(([a], [b]) => (a < b ? -1 : 1)),
    );
    const added = missing.map(([word]) => word);
    for (const [word, row] of await findWords(tx, added)) known.set(word, row);
  }
  return new Map(Array.from(known, ([word, { id }]) => [word, id]));
}

/** A word and its keys in one statement: it is never there without them. */
async function addWords(apart: Queryable, words: readonly (readonly [string, TypingKeys])[]): Promise<void> {
  const keys = words.flatMap(([word, typing], index) =>
    typing.index(word).map((hash) => ({ ordinal: index + 1, hash })),
  );
  await apart.query(
    `with added as (
       insert into discovery.word (word, keys_version) select * from unnest($1::text[], $4::smallint[])
       on conflict (word) do update set keys_version = excluded.keys_version where word.keys_version < excluded.keys_version
       returning id, word
     )
     insert into discovery.deletion (hash, word_id)
     select hash, id from unnest($2::integer[], $3::bigint[]) as key (ordinal, hash)
     join unnest($1::text[]) with ordinality as given (word, ordinal) using (ordinal)
     join added using (word) order by hash, id
     on conflict do nothing`,
    [
      textArray(words.map(([word]) => word)),
      integerArray(keys.map(({ ordinal }) => ordinal)),
      bigintArray(keys.map(({ hash }) => hash)),
      smallintArray(words.map(([, { version }]) => version)),
    ],
  );
}

/** Words that have a number, with the version of their keys for typing errors. */
export async function findWords(
  queryable: Queryable,
  words: readonly string[],
): Promise<Map<string, { id: number; keys_version: number }>> {
  if (words.length === 0) return new Map();
  const { rows } = await queryable.query<{ id: number; word: string; keys_version: number }>(
    'select id, word, keys_version from discovery.word where word = any ($1)',
    [textArray(words)],
  );
  return new Map(rows.map(({ word, ...row }) => [word, row]));
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
