import { addTo } from '../../group.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import { bigintArray, integerArray } from '../../storage/binary-arrays.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { type DocumentEntries, entriesOfDocument } from '../entries/document-entries.ts';
import type { IndexFormats } from '../entries/index-format.ts';
import { addObjectPaths, findObjectPaths } from '../entries/object-paths.ts';
import { type Generation, readWritten } from '../generations/in-use.ts';
import { catalogKeyOf, keyOf, kindOf, numberOf } from '../keys.ts';
import { describeList } from '../lists/list-numbers.ts';
import { createListRemovals } from '../lists/remove.ts';
import { addToLists, type ListEntries } from '../lists/runs.ts';
import { readGeometryRows, replaceGeometries } from '../spatial/write-geometries.ts';
import { findWords, numberWords } from '../text/dictionary.ts';
import { addTargets, forgetTargets, readDocuments } from '../write/document-rows.ts';
import { geometryRows, listEntries } from '../write/index-changes.ts';
import { compareLists, type ExpectedLists, type ListDifference } from './compare-lists.ts';

// Holds the generations of the index against the documents, slice by slice of the space of keys, each in one snapshot: what is written meanwhile is no difference, and memory is bounded by a slice. The lists are in
// the order of lists, not of keys, so each slice looks through the bounds of all runs. A difference is mended in another transaction, which finds it again first.

/** Documents of a slice. */
const documentsAtOnce = 20_000;
/** Of them, so many are parsed at a time. */
const parsedAtOnce = 500;

export interface CheckOptions {
  /** Mends what differs. */
  mend?: boolean;
  onDifference(difference: Difference): void;
  /** Only the catalogs with these keys. */
  catalogKeys?: readonly number[];
  /** For tests. */
  documentsAtOnce?: number;
}

export interface Checked {
  documents: number;
  differences: number;
  /** How many documents and catalogs had entries mended. */
  mended: number;
}

export type Difference = (ListDifference | OtherDifference) & { generation: number };

interface OtherDifference {
  what: 'geometry' | 'word' | 'typing key' | 'object path' | 'offer target';
  kind: 'missing' | 'surplus' | 'other';
  key: number;
  name?: string;
}

export async function checkIndex(
  database: Database,
  formats: IndexFormats,
  { mend = false, onDifference, catalogKeys, documentsAtOnce: atOnce = documentsAtOnce }: CheckOptions,
): Promise<Checked> {
  const checked: Checked = { documents: 0, differences: 0, mended: 0 };
  const ranges = catalogKeys?.map((key) => ({ from: keyOf(key, 0), end: keyOf(key + 1, 0) }));
  for (const { from: first, end } of ranges ?? [{ from: 0, end: Number.MAX_SAFE_INTEGER }])
    for (let from: number | undefined = first; from !== undefined; ) {
      const range: Range = { from, end };
      const slice = await database.transaction((tx) => checkSlice(tx, formats, range, atOnce), {
        isolation: 'repeatable read',
      });
      checked.documents += slice.documents;
      checked.differences += slice.differences.length;
      for (const difference of slice.differences) onDifference(difference);
      const wrong = new Set(slice.differences.map(({ key }) => catalogKeyOf(key)));
      for (const key of mend ? wrong : [])
        await database.transaction((tx) => mendCatalog(tx, formats, key, slice.differences));
      if (mend) checked.mended += new Set(slice.differences.map(({ key }) => key)).size;
      from = slice.rest;
    }
  return checked;
}

interface Range {
  from: number;
  end: number;
}

interface Slice {
  documents: number;
  differences: Difference[];
  /** Where the next one begins. */
  rest?: number;
}

async function checkSlice(
  tx: Transaction,
  formats: IndexFormats,
  range: Range,
  atOnce: number,
): Promise<Slice> {
  const keys = await readKeys(tx, range, atOnce);
  const last = keys.at(-1)?.key;
  const rest = keys.length < atOnce || last === undefined ? undefined : last + 1;
  const slice = { from: range.from, end: rest ?? range.end };
  const differences: Difference[] = [];
  for (const generation of await readWritten(tx, formats)) {
    const theirs = keys.filter((each) => each.generation >= generation.number).map(({ key }) => key);
    for (const difference of await checkGeneration(tx, generation, theirs, slice))
      differences.push({ ...difference, generation: generation.number });
  }
  return { documents: keys.length, differences, ...(rest !== undefined && { rest }) };
}

/** Of catalogs, resources and offers, in order, with the newest generation that each is in. */
async function readKeys(
  tx: Transaction,
  { from, end }: Range,
  limit: number,
): Promise<{ key: number; generation: number }[]> {
  const { rows } = await tx.query<{ key: number; generation: number }>(
    `select every.key, generation from (
       (select key from discovery.resource where key >= $1::bigint and key < $2::bigint order by key limit $3)
       union all (select key from discovery.offer where key >= $1::bigint and key < $2::bigint order by key limit $3)
       union all (select key << 26 from discovery.catalog
         where key >= ($1::bigint + (1 << 26) - 1) >> 26 and key < ($2::bigint + (1 << 26) - 1) >> 26 and provider_id <> '' order by key limit $3)
     ) as every join discovery.catalog on catalog.key = every.key >> 26 order by every.key limit $3`,
    [from, Math.min(end, keyOf(2 ** 27, 0)), limit],
  );
  return rows;
}

async function checkGeneration(
  tx: Transaction,
  generation: Generation,
  keys: readonly number[],
  range: Range,
): Promise<(ListDifference | OtherDifference)[]> {
  const expected: ExpectedLists = new Map();
  const differences: (ListDifference | OtherDifference)[] = [];
  for (let at = 0; at < keys.length; at += parsedAtOnce)
    differences.push(...(await checkDocuments(tx, generation, keys.slice(at, at + parsedAtOnce), expected)));
  differences.push(...(await compareLists(tx, generation.index, expected, range)));
  const { rows } = await tx.query<{ key: number }>(
    `select distinct key from ${generation.index}.geometry where key >= $1 and key < $2`,
    [range.from, range.end],
  );
  const documents = new Set(keys);
  for (const { key } of rows)
    if (!documents.has(key)) differences.push({ what: 'geometry', kind: 'surplus', key });
  return differences;
}

async function readEntries(
  tx: Transaction,
  { format }: Generation,
  keys: readonly number[],
): Promise<Map<number, DocumentEntries>> {
  const keysOf = (kind: ReturnType<typeof kindOf>) => keys.filter((key) => kindOf(key) === kind);
  const { rows } = await tx.query<{ key: number; head: string }>(
    'select key << 26 as key, head::text as head from discovery.catalog where key = any ($1::bigint[])',
    [keysOf('catalog').map(catalogKeyOf)],
  );
  const found = new Map<number, object>([
    ...rows.map(({ key, head }): [number, object] => [key, JSON.parse(head)]),
    ...(await readDocuments(tx, 'resource', keysOf('resource'))),
    ...(await readDocuments(tx, 'offer', keysOf('offer'))),
  ]);
  return new Map(
    Array.from(found, ([key, document]) => [key, entriesOfDocument(format, kindOf(key), document)]),
  );
}

/** Finds the differences that show without the lists, and adds what those are expected to have. */
async function checkDocuments(
  tx: Transaction,
  generation: Generation,
  keys: readonly number[],
  expected: ExpectedLists,
): Promise<OtherDifference[]> {
  const { index, format } = generation;
  const indexed = await readEntries(tx, generation, keys);
  const allOf = (pick: (entries: DocumentEntries) => Iterable<string>) => [
    ...new Set([...indexed.values()].flatMap((entries) => [...pick(entries)])),
  ];
  const numbers = await findWords(
    tx,
    index,
    allOf(({ words }) => words.keys()),
  );
  const objects = await findObjectPaths(
    tx,
    index,
    allOf(({ objects: paths }) => paths),
  );
  const geometries = await readGeometryRows(tx, index, keys);
  const untyped = await findWithoutTypingKeys(tx, generation, numbers);
  const differences: OtherDifference[] = [];
  for (const [key, entries] of indexed) {
    for (const word of entries.words.keys())
      if (!numbers.has(word)) differences.push({ what: 'word', kind: 'missing', key, name: word });
      else if (untyped.delete(word))
        differences.push({ what: 'typing key', kind: 'missing', key, name: word });
    for (const path of entries.objects)
      if (!objects.has(path)) differences.push({ what: 'object path', kind: 'missing', key, name: path });
    for (const [list, marks] of listEntries(entries, numbers))
      for (const mark of marks) addTo(expected, list, { key, mark });
    const stored = (geometries.get(key) ?? []).map(({ path, shape, low, high }) =>
      [path, canonicalJson(JSON.parse(shape)), `${low} ${high}`].join(' '),
    );
    const wanted = geometryRows({ format }, key, entries).map(({ path, shape, low, high }) =>
      [path, canonicalJson(JSON.parse(JSON.stringify(shape))), `${low} ${high}`].join(' '),
    );
    if (stored.sort().join('\n') !== wanted.sort().join('\n'))
      differences.push({ what: 'geometry', kind: 'other', key });
  }
  const { rows } = await tx.query<{ key: number }>(
    `select key from discovery.offer where key = any ($1::bigint[]) and exists (
       select from unnest(resource_ids) as named (id) where not exists (
         select from discovery.offer_target as target
         where (target.owner, target.resource_id, target.offer_key) = (offer.owner, named.id, offer.key))) order by key`,
    [bigintArray(keys.filter((key) => kindOf(key) === 'offer'))],
  );
  return [
    ...differences,
    ...rows.map(({ key }) => ({ what: 'offer target', kind: 'missing', key }) as const),
  ];
}

/** Words that would not be found in spite of typing errors. */
async function findWithoutTypingKeys(
  tx: Transaction,
  { index, format }: Generation,
  numbers: ReadonlyMap<string, number>,
): Promise<Set<string>> {
  const wanted = [...numbers].flatMap(([word, id]) =>
    format.typing.index(word).map((hash) => ({ word, id, hash })),
  );
  const { rows } = await tx.query<{ ordinal: number }>(
    `select ordinal::integer from unnest($1::bigint[], $2::integer[]) with ordinality as wanted (hash, word_id, ordinal)
     where not exists (select from ${index}.deletion as held where (held.hash, held.word_id) = (wanted.hash, wanted.word_id))`,
    [bigintArray(wanted.map(({ hash }) => hash)), integerArray(wanted.map(({ id }) => id))],
  );
  return new Set(rows.flatMap(({ ordinal }) => wanted[ordinal - 1]?.word ?? []));
}

/** Under the lock of the catalog: what was written since the differences were found is no difference any more. */
async function mendCatalog(
  tx: Transaction,
  formats: IndexFormats,
  catalogKey: number,
  known: readonly Difference[],
): Promise<void> {
  const generations = await readWritten(tx, formats);
  await tx.query('select from discovery.catalog where key = $1 for update', [catalogKey]);
  const range = { from: keyOf(catalogKey, 0), end: keyOf(catalogKey + 1, 0) };
  const wrong = new Set(known.map(({ key }) => key).filter((key) => catalogKeyOf(key) === catalogKey));
  const keys = (await readKeys(tx, range, Number.MAX_SAFE_INTEGER)).filter(({ key }) => wrong.has(key));
  for (const generation of generations) {
    const { index } = generation;
    const theirs = keys.filter((each) => each.generation >= generation.number).map(({ key }) => key);
    const lacking = known.filter((each) => each.generation === generation.number && wrong.has(each.key));
    await mendLookups(tx, generation, lacking);
    const indexed = await readEntries(tx, generation, theirs);
    const expected: ExpectedLists = new Map();
    const numbers = await findWords(
      tx,
      index,
      [...indexed.values()].flatMap(({ words }) => [...words.keys()]),
    );
    for (const [key, entries] of indexed)
      for (const [list, marks] of listEntries(entries, numbers))
        for (const mark of marks) addTo(expected, list, { key, mark });
    const inLists = await compareLists(tx, index, expected, range, wrong);
    const listed = (kind: ListDifference['kind']): ListEntries[] =>
      inLists
        .filter((each) => each.kind === kind)
        .map(({ list, key, mark }) => ({ list, keys: [key], marks: [mark] }));
    await replaceGeometries(
      tx,
      index,
      [...wrong],
      Array.from(indexed).flatMap(([key, entries]) => geometryRows(generation, key, entries)),
    );
    await addToLists(tx, index, listed('missing'));
    // One that stands in a list twice is found once too often; each time one copy is taken out.
    const removals = createListRemovals(index);
    for (const entries of listed('surplus')) {
      await removals.add(tx, [entries]);
      await removals.write(tx);
    }
  }
}

/** What leads to words, paths and offers. */
async function mendLookups(
  tx: Transaction,
  { index, format }: Generation,
  differences: readonly Difference[],
): Promise<void> {
  const namesOf = (...kinds: Difference['what'][]) =>
    differences.flatMap((each) =>
      'name' in each && each.name !== undefined && kinds.includes(each.what) ? each.name : [],
    );
  // A word that is marked to be deleted gets its keys with the mark taken away.
  const words = namesOf('word', 'typing key');
  if (words.length > 0)
    await tx.apart.query(`update ${index}.word set in_use = false where word = any ($1::text[])`, [words]);
  await numberWords(tx, index, [...new Set(words)], format);
  await addObjectPaths(tx, index, namesOf('object path'));
  const offers = bigintArray(differences.flatMap(({ what, key }) => (what === 'offer target' ? key : [])));
  await forgetTargets(tx, offers);
  await addTargets(tx, offers);
}

/** A difference on one line: what is missing or surplus, in which list, and whose it is. */
export function describeDifference(difference: Difference): string {
  const { key } = difference;
  const whose = `key ${key} (${kindOf(key)} ${numberOf(key)} of catalog ${catalogKeyOf(key)})`;
  switch (difference.what) {
    case 'list':
      return `${difference.kind}: list ${difference.list} (${describeList(difference.list)}), ${whose}, beside it ${difference.mark}`;
    case 'geometry':
      return `${difference.kind === 'surplus' ? 'surplus: geometries without a document' : 'other geometries than the document has'}: ${whose}`;
    default:
      return `${difference.kind}: ${difference.what} ${JSON.stringify(difference.name)}, ${whose}`;
  }
}
