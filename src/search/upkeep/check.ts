import { canonicalJson } from '../../protocol/canonical-json.ts';
import type { Json } from '../../protocol/json.ts';
import { arraysOf, bigintArray, integerArray } from '../../storage/binary-arrays.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { listOf } from '../documents/members.ts';
import { type RangedDocument, readRanged } from '../documents/read-ranged.ts';
import { hash53 } from '../entries/attributes.ts';
import { entriesOfDocument } from '../entries/document-entries.ts';
import type { IndexFormats } from '../entries/index-format.ts';
import { findObjectPaths } from '../entries/object-paths.ts';
import { type Generation, readWritten } from '../generations/in-use.ts';
import { catalogKeyOf, type KeyRange, keyOf, kindOf, numberOf, rangeOf } from '../keys.ts';
import { describeList } from '../lists/list-numbers.ts';
import { removeRange } from '../lists/remove.ts';
import { entriesOf, readRange, unshare } from '../lists/runs.ts';
import { type GeometryRow, readGeometryRows } from '../spatial/write-geometries.ts';
import { addWords, findWords } from '../text/dictionary.ts';
import { addTargets, forgetTargets } from '../write/document-rows.ts';
import { geometryRows, listEntries } from '../write/index-changes.ts';
import { buildCatalog } from './build.ts';

// Compares the generations of the index with the documents, in slices of the key space. One snapshot per slice: concurrent writes are no differences, and memory is bounded. The runs are in the order of lists, not
// of keys, so each slice scans the bounds of all runs. A catalog that differs is mended by indexing it again.

/** Number of documents in a slice. */
const documentsAtOnce = 20_000;
/** Number of documents that are parsed at once. */
const parsedAtOnce = 500;

export interface CheckOptions {
  /** Mends differences. */
  mend?: boolean;
  onDifference(difference: Difference): void;
  /** Checks only the catalogs with these keys. */
  catalogKeys?: readonly number[];
  /** For tests. */
  documentsAtOnce?: number;
}

export interface Checked {
  documents: number;
  differences: number;
  /** Number of documents and catalogs with mended entries. */
  mended: number;
}

export interface Difference {
  what: 'document' | 'list' | 'geometry' | 'word' | 'typing key' | 'object path' | 'offer target';
  kind: 'missing' | 'surplus';
  key: number;
  generation: number;
  /** The word or the path. For a list entry: the number of the list, and the mark. */
  name: string;
}

export async function checkIndex(
  database: Database,
  formats: IndexFormats,
  { mend = false, onDifference, catalogKeys, documentsAtOnce: atOnce = documentsAtOnce }: CheckOptions,
): Promise<Checked> {
  const checked: Checked = { documents: 0, differences: 0, mended: 0 };
  const ranges = catalogKeys?.map(rangeOf) ?? [{ from: 0, end: keyOf(2 ** 27, 0) }];
  for (const { from: first, end } of ranges)
    for (let from: number | undefined = first; from !== undefined; ) {
      const range: KeyRange = { from, end };
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

async function checkSlice(tx: Transaction, formats: IndexFormats, { from, end }: KeyRange, atOnce: number) {
  /** `rest`: start of the next slice. */
  const slice = { documents: 0, differences: [] as Difference[], rest: from as number | undefined };
  const checks = (await readWritten(tx, formats)).map((generation) => ({
    generation,
    comparison: createComparison(generation.number, slice.differences),
  }));
  while (slice.rest !== undefined && slice.documents < atOnce) {
    const part: KeyRange = { from: slice.rest, end };
    const limit = Math.min(parsedAtOnce, atOnce - slice.documents);
    const documents = await readRanged(tx, [part], limit);
    slice.rest = documents.length < limit ? undefined : (documents.at(-1)?.key ?? 0) + 1;
    slice.documents += documents.length;
    for (const { generation, comparison } of checks) {
      const theirs = documents.filter((each) => each.generation >= generation.number);
      await compareDocuments(tx, generation, theirs, comparison);
      for (const row of await readGeometryRows(tx, generation.index, { ...part, end: slice.rest ?? end }))
        comparison.count(row.key, 'geometry', nameGeometry(row, JSON.parse(row.shape)), -1);
    }
  }
  for (const { generation, comparison } of checks) {
    for await (const runs of readRange(tx, generation.index, { from, end: slice.rest ?? end }))
      for (const { list, key, mark } of runs.flatMap(entriesOf).map(unshare))
        if (key >= from && key < (slice.rest ?? end)) comparison.count(key, 'list', `${list} ${mark}`, -1);
    comparison.finish();
  }
  return slice;
}

type Comparison = ReturnType<typeof createComparison>;

/** Collects the differences of one generation. */
function createComparison(generation: number, differences: Difference[]) {
  /** By key, kind and name: how often something is missing, or surplus if negative. */
  const missing = new Map<string, number>();
  const add = (difference: Omit<Difference, 'generation'>) =>
    void differences.push({ ...difference, generation });
  return {
    add,
    /** `by`: 1 for expected entries, -1 for existing ones. */
    count(key: number, what: 'list' | 'geometry', name: string, by: 1 | -1): void {
      const line = `${key} ${what} ${name}`;
      const left = (missing.get(line) ?? 0) + by;
      if (left === 0) missing.delete(line);
      else missing.set(line, left);
    },
    finish(): void {
      for (const [line, times] of missing) {
        const [key, what, ...name] = line.split(' ');
        const kind = times > 0 ? 'missing' : 'surplus';
        for (let time = 0; time < Math.abs(times); time++)
          add({ what: what as 'list' | 'geometry', kind, key: Number(key), name: name.join(' ') });
      }
    },
  };
}

/** Counts the expected entries of documents in lists and geometries, and compares the rest. */
async function compareDocuments(
  tx: Transaction,
  generation: Generation,
  documents: readonly RangedDocument[],
  comparison: Comparison,
): Promise<void> {
  const { index, format } = generation;
  const indexed = documents.map(({ key, text }) => ({
    key,
    entries: entriesOfDocument(format, kindOf(key), JSON.parse(text)),
  }));
  const words = new Set(indexed.flatMap(({ entries }) => [...entries.words.keys()]));
  const numbers = await findWords(tx, index, [...words]);
  const paths = new Set(indexed.flatMap(({ entries }) => [...entries.objects]));
  const objects = await findObjectPaths(tx, index, [...paths]);
  const untyped = await findUntyped(tx, generation, numbers);
  for (const { key, entries } of indexed) {
    for (const name of entries.words.keys())
      if (!numbers.has(name)) comparison.add({ what: 'word', kind: 'missing', key, name });
      else if (untyped.delete(name)) comparison.add({ what: 'typing key', kind: 'missing', key, name });
    for (const name of entries.objects)
      if (!objects.has(name)) comparison.add({ what: 'object path', kind: 'missing', key, name });
    for (const [list, marks] of listEntries(entries, numbers))
      for (const mark of marks) comparison.count(key, 'list', `${list} ${mark}`, 1);
    for (const row of geometryRows(format, key, entries))
      comparison.count(key, 'geometry', nameGeometry(row, row.shape), 1);
  }
  const untargeted = await tx.rows<{ key: number; name: string }>(
    `select key, named.id as name from discovery.offer, unnest(resource_ids) as named (id)
     where key = any ($1::bigint[]) and not exists (
       select from discovery.offer_target as target
       where (target.owner, target.resource_id, target.offer_key) = (offer.owner, named.id, offer.key)) order by key`,
    [bigintArray(documents.map(({ key }) => key))],
  );
  for (const row of untargeted) comparison.add({ what: 'offer target', kind: 'missing', ...row });
}

/** Ends with a digest of the geometry, which may be long. */
function nameGeometry({ path, low, high }: Omit<GeometryRow, 'position' | 'shape'>, shape: object): string {
  return `${path} ${hash53(`${canonicalJson(shape as Json)} ${low} ${high}`)}`;
}

/** Words with missing keys for typing errors. */
async function findUntyped(tx: Transaction, { index, format }: Generation, numbers: Map<string, number>) {
  const wanted = [...numbers].flatMap(([word, id]) =>
    format.typing.index(word).map((hash) => ({ word, id, hash })),
  );
  const ordinals = await tx.column<number>(
    `select ordinal::integer from unnest($1::bigint[], $2::integer[]) with ordinality as wanted (hash, word_id, ordinal)
     where not exists (select from ${index}.deletion as held where (held.hash, held.word_id) = (wanted.hash, wanted.word_id))`,
    arraysOf(wanted, { hash: bigintArray, id: integerArray }),
  );
  return new Set(ordinals.flatMap((ordinal) => wanted[ordinal - 1]?.word ?? []));
}

/** Removes all index entries of a catalog, and indexes it again, under its lock. */
async function mendCatalog(
  tx: Transaction,
  formats: IndexFormats,
  catalogKey: number,
  differences: readonly Difference[],
): Promise<void> {
  const generations = await readWritten(tx, formats);
  const lock = 'select generation from discovery.catalog where key = $1 for update';
  const newest = await tx.value<number | undefined>(lock, [catalogKey]);
  const range = rangeOf(catalogKey);
  const offers = bigintArray(await listOf(tx, 'offer', [range.from]));
  await forgetTargets(tx, offers);
  await addTargets(tx, offers);
  const untyped = differences.flatMap(({ what, key, name }) =>
    what === 'typing key' && catalogKeyOf(key) === catalogKey ? name : [],
  );
  if (untyped.length > 0) await tx.query('insert into discovery.change (words) values (true)');
  for (const generation of generations) {
    const { number, index, format } = generation;
    await addWords(tx.apart, index, untyped.sort(), format);
    await removeRange(tx, index, range);
    await tx.query(`delete from ${index}.geometry where key >= $1 and key < $2`, [range.from, range.end]);
    if (number <= (newest ?? 0)) await buildCatalog(tx, generation, catalogKey);
  }
}

/** A difference on one line: what is missing or surplus, in which list, and of which document. */
export function describeDifference({ what, kind, key, name }: Difference): string {
  const whose = `key ${key} (${kindOf(key)} ${numberOf(key)} of catalog ${catalogKeyOf(key)})`;
  if (what !== 'list') return `${kind}: ${what} ${name}, ${whose}`;
  const [list, mark] = name.split(' ');
  return `${kind}: list ${list} (${describeList(Number(list))}), ${whose}, beside it ${mark}`;
}
