import { bigintArray, integerArray } from '../../storage/binary-arrays.ts';
import type { Database, Queryable, Transaction } from '../../storage/database.ts';
import type { IndexedVersions } from '../documents/catalogs.ts';
import { type IndexedDocument, readDocuments } from '../documents/documents.ts';
import { catalogKeyOf, keyOf, kindOf, numberOf } from '../documents/keys.ts';
import { findObjectPaths } from '../filter/object-paths.ts';
import { firstWithReach, type IndexFormat, type IndexFormats } from '../format/index-format.ts';
import { abroadList, siblingList, wideList } from '../lists/runs.ts';
import { readGeometryRows } from '../spatial/write-geometries.ts';
import { findWords, writeDocumentWords } from '../text/dictionary.ts';
import { type DocumentEntries, entriesOfDocument } from '../write/document-entries.ts';
import { numberWeights, sameGeometries } from '../write/index-changes.ts';
import { findReachLists } from '../write/reach.ts';
import { siblingCondition } from '../write/siblings.ts';
import { listAttributes } from '../write/stored-entries.ts';
import { formatsOf } from '../write/target.ts';
import { compareLists, createExpectedLists, type Difference, type ListDifference } from './compare-lists.ts';
import { mendDocuments } from './mend.ts';

// Holds the index against the documents, slice by slice of the space of keys, each in one snapshot: what is written meanwhile is no difference, and memory is bounded
// by a slice. The posting lists are in the order of lists, not of keys, so each slice looks through the bounds of all runs.

/** Documents of a slice. */
const documentsAtOnce = 20_000;
/** Of them, so many are in memory as texts. */
const textsAtOnce = 500;

export interface CheckOptions {
  /** Mends what differs. */
  mend?: boolean;
  onDifference(difference: Difference): void;
  /** For tests. */
  documentsAtOnce?: number;
}

export interface Checked {
  documents: number;
  differences: number;
  /** How many documents and catalogs had their entries made anew, and keys without a document lost theirs. */
  mended: number;
}

export async function checkIndex(
  database: Database,
  formats: IndexFormats,
  { mend = false, onDifference, documentsAtOnce: atOnce = documentsAtOnce }: CheckOptions,
): Promise<Checked> {
  const checked: Checked = { documents: 0, differences: 0, mended: 0 };
  for (let from: number | undefined = 0; from !== undefined; ) {
    const start: number = from;
    const slice = await database.transaction((tx) => checkSlice(tx, formats, start, atOnce), {
      isolation: 'repeatable read',
    });
    checked.documents += slice.documents;
    checked.differences += slice.differences.length;
    for (const difference of slice.differences) onDifference(difference);
    if (mend) checked.mended += await mendDocuments(database, formats, slice.differences);
    from = slice.end;
  }
  return checked;
}

interface Slice {
  documents: number;
  differences: Difference[];
  /** Where the next one begins. */
  end?: number;
}

async function checkSlice(
  tx: Transaction,
  formats: IndexFormats,
  from: number,
  atOnce: number,
): Promise<Slice> {
  const keys = await readKeys(tx, from, atOnce);
  const last = keys.at(-1);
  const end = keys.length < atOnce || last === undefined ? undefined : last + 1;
  const formatAt = await readFormats(tx, formats, keys);
  const expected = createExpectedLists();
  const differences: Difference[] = [];
  for (let at = 0; at < keys.length; at += textsAtOnce) {
    const documents = await readTexts(tx, keys.slice(at, at + textsAtOnce));
    const indexed = documents.map((document) => {
      const format = formatAt(document.key);
      const kind = kindOf(document.key);
      return { document, format, entries: entriesOfDocument(format, kind, JSON.parse(document.document)) };
    });
    differences.push(...(await checkDocuments(tx, indexed, expected, formats)));
  }
  const range = { from, end: end ?? Number.MAX_SAFE_INTEGER };
  for (const head of await findHeadsWithSiblings(tx, range)) expected.put(siblingList, head, 0);
  const catalogs = { from: Math.ceil(range.from / keyOf(1, 0)), end: Math.ceil(range.end / keyOf(1, 0)) };
  for (const [list, found] of await findReachLists(tx, catalogs))
    for (const key of found) expected.put(list, keyOf(key, 0), 0);
  const inLists = await compareLists(tx, expected, range);
  // Code before version 2 did not write which catalogs have siblings, code before version 4 not how far offers reach, nor did they need to.
  const isOptional = ({ list, key, kind }: ListDifference) => {
    const version = keys.includes(key) ? formatAt(key).version : firstWithReach;
    if (list === siblingList) return version < 2;
    // A catalog may stay in them longer than it has to.
    return (list === abroadList || list === wideList) && (kind === 'surplus' || version < firstWithReach);
  };
  differences.push(...inLists.filter((each) => !isOptional(each)));
  differences.push(...(await findLeftGeometries(tx, new Set(keys), range)));
  return { documents: keys.length, differences, ...(end !== undefined && { end }) };
}

/** Of catalogs, resources and offers, in order. */
async function readKeys(tx: Transaction, from: number, limit: number): Promise<number[]> {
  const { rows } = await tx.query<{ key: number }>(
    `select key from (
       (select key from discovery.resource where key >= $1::bigint order by key limit $2)
       union all (select key from discovery.offer where key >= $1::bigint order by key limit $2)
       union all (select key << 26 from discovery.catalog where key >= ($1::bigint + (1 << 26) - 1) >> 26 and provider_id <> '' order by key limit $2)
     ) as every order by key limit $2`,
    [from, limit],
  );
  return rows.map(({ key }) => key);
}

/** Catalogs that share their provider with another one of the owner. */
async function findHeadsWithSiblings(
  tx: Transaction,
  { from, end }: { from: number; end: number },
): Promise<number[]> {
  const { rows } = await tx.query<{ head: number }>(
    `select key << 26 as head from discovery.catalog where key << 26 >= $1 and key << 26 < $2 and ${siblingCondition('catalog')}`,
    [from, end],
  );
  return rows.map(({ head }) => head);
}

async function readFormats(
  tx: Transaction,
  formats: IndexFormats,
  keys: readonly number[],
): Promise<(key: number) => IndexFormat> {
  const { rows } = await tx.query<IndexedVersions & { key: number }>(
    `select key, index_version, reindexed_below, reindexed_version from discovery.catalog where key between $1 and $2`,
    [catalogKeyOf(keys[0] ?? 0), catalogKeyOf(keys.at(-1) ?? 0)],
  );
  const known = new Map(rows.map((row) => [row.key, formatsOf(row, formats)]));
  return (key) => {
    const formatAt = known.get(catalogKeyOf(key));
    if (formatAt === undefined) throw new Error(`the document ${key} has no catalog`);
    return formatAt(numberOf(key) || undefined);
  };
}

async function readTexts(tx: Queryable, keys: readonly number[]): Promise<IndexedDocument[]> {
  const keysOf = (kind: ReturnType<typeof kindOf>) => keys.filter((key) => kindOf(key) === kind);
  const resources = await readDocuments(tx, 'resource', keysOf('resource'));
  const offers = await readDocuments(tx, 'offer', keysOf('offer'));
  const { rows } = await tx.query<IndexedDocument>(
    `select key << 26 as key, head::text as document, words, false as "isStanding"
     from discovery.catalog where key = any ($1::bigint[])`,
    [keysOf('catalog').map(catalogKeyOf)],
  );
  const found = new Map([...resources, ...offers, ...rows.map((row) => [row.key, row] as const)]);
  return keys.flatMap((key) => found.get(key) ?? []);
}

interface IndexedTexts {
  document: IndexedDocument;
  format: IndexFormat;
  entries: DocumentEntries;
}

/** Finds the differences that show without the posting lists, and adds what those are expected to have. */
async function checkDocuments(
  tx: Transaction,
  indexed: readonly IndexedTexts[],
  expected: ReturnType<typeof createExpectedLists>,
  formats: IndexFormats,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const dictionary = await findWords(tx, [
    ...new Set(indexed.flatMap(({ entries }) => [...entries.words.keys()])),
  ]);
  const numbers = new Map(Array.from(dictionary, ([word, { id }]) => [word, id]));
  const geometries = await readGeometryRows(
    tx,
    indexed.map(({ document }) => document.key),
  );
  const objects = await findObjectPaths(tx, [
    ...new Set(indexed.flatMap(({ entries }) => [...entries.objects])),
  ]);
  differences.push(...(await findWithoutTypingKeys(tx, indexed, dictionary, formats)));
  differences.push(...(await findWithoutTargets(tx, indexed)));
  for (const { document, format, entries } of indexed) {
    const { key } = document;
    const known = new Map([...entries.words].filter(([word]) => dictionary.has(word)));
    for (const word of entries.words.keys())
      if (!dictionary.has(word)) differences.push({ what: 'word', kind: 'missing', key, name: word });
    const words = numberWeights(known, numbers);
    expected.add(key, { ...listAttributes(entries), words, isStanding: entries.isStanding });
    const isSame = isStored(document, format, writeDocumentWords(words));
    if (!isSame || document.isStanding !== entries.isStanding)
      differences.push({ what: 'stored', kind: 'other', key });
    if (!sameGeometries(geometries.get(key) ?? [], entries, format))
      differences.push({ what: 'geometry', kind: 'other', key });
    for (const path of entries.objects)
      if (!objects.has(path)) differences.push({ what: 'object path', kind: 'missing', key, name: path });
  }
  return differences;
}

/**
 * Words that would not be found in spite of typing errors: each has the keys of one version, that of its documents or a newer one, and searches look for those of every version.
 * Keys that a word has besides only propose it.
 */
async function findWithoutTypingKeys(
  tx: Queryable,
  indexed: readonly IndexedTexts[],
  dictionary: Awaited<ReturnType<typeof findWords>>,
  formats: IndexFormats,
): Promise<Difference[]> {
  const newest = new Map<string, IndexedTexts>();
  for (const each of indexed)
    for (const word of each.entries.words.keys()) {
      const known = newest.get(word)?.format.typing.version ?? -1;
      if (each.format.typing.version > known) newest.set(word, each);
    }
  const wanted = [...newest].flatMap(([word, { format }]) => {
    const held = dictionary.get(word);
    if (held === undefined) return [];
    const newer = formats.find(
      ({ typing }) => typing.version === held.keys_version && typing.version > format.typing.version,
    );
    return (newer ?? format).typing.index(word).map((hash) => ({ word, id: held.id, hash }));
  });
  const { rows } = await tx.query<{ ordinal: number }>(
    `select min(ordinal)::integer as ordinal from unnest($1::bigint[], $2::integer[]) with ordinality as wanted (hash, word_id, ordinal)
     where not exists (select from discovery.deletion as held where (held.hash, held.word_id) = (wanted.hash, wanted.word_id))
     group by word_id`,
    [bigintArray(wanted.map(({ hash }) => hash)), integerArray(wanted.map(({ id }) => id))],
  );
  return rows.flatMap(({ ordinal }) => {
    const word = wanted[ordinal - 1]?.word ?? '';
    const key = newest.get(word)?.document.key;
    return key === undefined ? [] : [{ what: 'typing key', kind: 'missing', key, name: word } as const];
  });
}

/** Offers that would not be found by a resource that they name. */
async function findWithoutTargets(tx: Queryable, indexed: readonly IndexedTexts[]): Promise<Difference[]> {
  const { rows } = await tx.query<{ key: number }>(
    `select key from discovery.offer where key = any ($1::bigint[]) and exists (
       select from unnest(resource_ids) as named (id) where not exists (
         select from discovery.offer_target as target
         where (target.owner, target.resource_id, target.offer_key) = (offer.owner, named.id, offer.key)))
     order by key`,
    [bigintArray(indexed.map(({ document }) => document.key).filter((key) => kindOf(key) === 'offer'))],
  );
  return rows.map(({ key }) => ({ what: 'offer target', kind: 'missing', key }) as const);
}

/** Version 0 did not store the words of offers. */
function isStored({ words }: IndexedDocument, { version }: IndexFormat, expected: Buffer): boolean {
  return words === null ? version === 0 : words.equals(expected);
}

/** Geometries of documents that have gone. */
async function findLeftGeometries(
  tx: Queryable,
  documents: ReadonlySet<number>,
  { from, end }: { from: number; end: number },
): Promise<Difference[]> {
  const { rows } = await tx.query<{ key: number }>(
    'select distinct key from discovery.geometry where key >= $1 and key < $2',
    [from, end],
  );
  return rows
    .filter(({ key }) => !documents.has(key))
    .map(({ key }) => ({ what: 'geometry', kind: 'surplus', key }) as const);
}
