import { canonicalJson } from '../../protocol/canonical-json.ts';
import { bigintArray, integerArray } from '../../storage/binary-arrays.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { type DocumentEntries, entriesOfDocument } from '../entries/document-entries.ts';
import type { IndexFormats } from '../entries/index-format.ts';
import { findObjectPaths } from '../entries/object-paths.ts';
import { type Generation, readWritten } from '../generations/in-use.ts';
import { catalogKeyOf, keyOf, kindOf, numberOf } from '../keys.ts';
import { describeList } from '../lists/list-numbers.ts';
import { removeRange } from '../lists/remove.ts';
import { type Entry, entriesOf, readRange, storedEntries } from '../lists/runs.ts';
import { readGeometryRows } from '../spatial/write-geometries.ts';
import { addWords, findWords } from '../text/dictionary.ts';
import { addTargets, forgetTargets, readDocuments } from '../write/document-rows.ts';
import { geometryRows, listEntries } from '../write/index-changes.ts';
import { buildCatalog } from './build.ts';

// Compares the generations of the index with the documents, slice by slice of the space of keys, each in one snapshot: what is written meanwhile is no difference, and memory is bounded by a slice. The lists are in
// the order of lists, not of keys, so each slice looks through the bounds of all runs. A catalog that differs is mended by indexing it again.

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

export interface Difference {
  what: 'list' | 'geometry' | 'word' | 'typing key' | 'object path' | 'offer target';
  kind: 'missing' | 'surplus' | 'other';
  key: number;
  generation: number;
  /** Of the word or path. */
  name?: string;
  list?: number;
  /** What stands beside the key in the list: the weight of a word, or the number. */
  mark?: number;
}

type Found = Omit<Difference, 'generation'>;

export async function checkIndex(
  database: Database,
  formats: IndexFormats,
  { mend = false, onDifference, catalogKeys, documentsAtOnce: atOnce = documentsAtOnce }: CheckOptions,
): Promise<Checked> {
  const checked: Checked = { documents: 0, differences: 0, mended: 0 };
  const ranges = catalogKeys?.map(rangeOf);
  for (const { from: first, end } of ranges ?? [{ from: 0, end: Number.MAX_SAFE_INTEGER }])
    for (let from: number | undefined = first; from !== undefined; ) {
      const range: Range = { from, end };
      const slice = await database.transaction((tx) => checkSlice(tx, formats, range, atOnce), {
        isolation: 'repeatable read',
      });
      checked.documents += slice.documents;
      checked.differences += slice.differences.length;
      for (const difference of slice.differences) onDifference(difference);
      const wrong = new Set(slice.differences.map(({ key }) => key));
      for (const key of mend ? new Set(Array.from(wrong, catalogKeyOf)) : [])
        await database.transaction((tx) => mendCatalog(tx, formats, key, slice.differences));
      if (mend) checked.mended += wrong.size;
      from = slice.rest;
    }
  return checked;
}

interface Range {
  from: number;
  end: number;
}

function rangeOf(catalogKey: number): Range {
  return { from: keyOf(catalogKey, 0), end: keyOf(catalogKey + 1, 0) };
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
    for await (const difference of checkGeneration(tx, generation, theirs, slice))
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

async function* checkGeneration(
  tx: Transaction,
  generation: Generation,
  keys: readonly number[],
  range: Range,
): AsyncGenerator<Found> {
  const { index } = generation;
  /** The entries of lists by name: how often each is missing, or, below 0, too many. */
  const missing = new Map<string, number>();
  const count = ({ list, key, mark }: Entry, by: 1 | -1) => {
    const name = `${list} ${key} ${mark}`;
    const left = (missing.get(name) ?? 0) + by;
    if (left === 0) missing.delete(name);
    else missing.set(name, left);
  };
  for (let at = 0; at < keys.length; at += parsedAtOnce)
    yield* checkDocuments(tx, generation, keys.slice(at, at + parsedAtOnce), (entry) => count(entry, 1));
  for await (const run of readRange(tx, index, range))
    for (const entry of storedEntries(entriesOf(run.list, [run])))
      if (entry.key >= range.from && entry.key < range.end) count(entry, -1);
  for (const [name, times] of missing) {
    const [list = 0, key = 0, mark] = name.split(' ').map(Number);
    const kind = times > 0 ? 'missing' : 'surplus';
    for (let time = 0; time < Math.abs(times); time++) yield { what: 'list', kind, list, key, mark };
  }
  const { rows } = await tx.query<{ key: number }>(
    `select distinct key from ${index}.geometry where key >= $1 and key < $2`,
    [range.from, range.end],
  );
  const documents = new Set(keys);
  for (const { key } of rows) if (!documents.has(key)) yield { what: 'geometry', kind: 'surplus', key };
}

/** Finds the differences that show without the lists, and names the entries that those should have. */
async function* checkDocuments(
  tx: Transaction,
  generation: Generation,
  keys: readonly number[],
  expect: (entry: Entry) => void,
): AsyncGenerator<Found> {
  const { index, format } = generation;
  const indexed = await readEntries(tx, generation, keys);
  const allOf = (pick: (entries: DocumentEntries) => Iterable<string>) => [
    ...new Set([...indexed.values()].flatMap((entries) => [...pick(entries)])),
  ];
  const words = allOf((entries) => entries.words.keys());
  const numbers = await findWords(tx, index, words);
  const paths = allOf((entries) => entries.objects);
  const objects = await findObjectPaths(tx, index, paths);
  const geometries = await readGeometryRows(tx, index, keys);
  const untyped = await findWithoutTypingKeys(tx, generation, numbers);
  for (const [key, entries] of indexed) {
    for (const name of entries.words.keys())
      if (!numbers.has(name)) yield { what: 'word', kind: 'missing', key, name };
      else if (untyped.delete(name)) yield { what: 'typing key', kind: 'missing', key, name };
    for (const name of entries.objects)
      if (!objects.has(name)) yield { what: 'object path', kind: 'missing', key, name };
    for (const [list, marks] of listEntries(entries, numbers))
      for (const mark of marks) expect({ list, key, mark });
    const stored = (geometries.get(key) ?? []).map((row) => describeGeometry(row, row.shape));
    const wanted = geometryRows({ format }, key, entries).map((row) =>
      describeGeometry(row, JSON.stringify(row.shape)),
    );
    if (stored.sort().join('\n') !== wanted.sort().join('\n')) yield { what: 'geometry', kind: 'other', key };
  }
  const { rows } = await tx.query<{ key: number }>(
    `select key from discovery.offer where key = any ($1::bigint[]) and exists (
       select from unnest(resource_ids) as named (id) where not exists (
         select from discovery.offer_target as target
         where (target.owner, target.resource_id, target.offer_key) = (offer.owner, named.id, offer.key))) order by key`,
    [bigintArray(keys.filter((key) => kindOf(key) === 'offer'))],
  );
  for (const { key } of rows) yield { what: 'offer target', kind: 'missing', key };
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

function describeGeometry(
  { path, low, high }: { path: string; low: readonly number[]; high: readonly number[] },
  shape: string,
): string {
  return [path, canonicalJson(JSON.parse(shape)), `${low} ${high}`].join(' ');
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

/** Takes all that the index has of a catalog out of it, and indexes the catalog again, under its lock. */
async function mendCatalog(
  tx: Transaction,
  formats: IndexFormats,
  catalogKey: number,
  differences: readonly Difference[],
): Promise<void> {
  const generations = await readWritten(tx, formats);
  const { rows } = await tx.query<{ head: string; generation: number }>(
    `select head::text as head, generation from discovery.catalog where key = $1 and provider_id <> '' for update`,
    [catalogKey],
  );
  const theirs = differences.filter(({ key }) => catalogKeyOf(key) === catalogKey);
  const offers = bigintArray(theirs.flatMap(({ what, key }) => (what === 'offer target' ? key : [])));
  await forgetTargets(tx, offers);
  await addTargets(tx, offers);
  for (const generation of generations) {
    const { number, index, format } = generation;
    const untyped = theirs.flatMap((each) => (each.what === 'typing key' ? (each.name ?? []) : []));
    await addWords(tx.apart, index, untyped.sort(), format);
    const range = rangeOf(catalogKey);
    await removeRange(tx, index, range);
    await tx.query(`delete from ${index}.geometry where key >= $1 and key < $2`, [range.from, range.end]);
    for (const row of rows)
      if (number <= row.generation) await buildCatalog(tx, generation, catalogKey, JSON.parse(row.head));
  }
}

/** A difference on one line: what is missing or surplus, in which list, and whose it is. */
export function describeDifference({ what, kind, key, name, list = 0, mark }: Difference): string {
  const whose = `key ${key} (${kindOf(key)} ${numberOf(key)} of catalog ${catalogKeyOf(key)})`;
  switch (what) {
    case 'list':
      return `${kind}: list ${list} (${describeList(list)}), ${whose}, beside it ${mark}`;
    case 'geometry':
      return `${kind === 'surplus' ? 'surplus: geometries without a document' : 'other geometries than the document has'}: ${whose}`;
    default:
      return `${kind}: ${what} ${JSON.stringify(name)}, ${whose}`;
  }
}
