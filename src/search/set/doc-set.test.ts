import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalog, offer, plain } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { runs } from '../../../tests/support/reproducible.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { addToLists } from '../../../tests/support/search/list-entries.ts';
import { everyDocument, membersOf } from '../documents/members.ts';
import { coveredBy } from '../documents/own-offers.ts';
import { inScope } from '../documents/scope.ts';
import { keyOf } from '../keys.ts';
import { columnList, wordList } from '../lists/list-numbers.ts';
import { listSet } from '../lists/list-set.ts';
import { openLists } from '../lists/read-lists.ts';
import { writeIndex } from '../write/write-index.ts';
import { arraySet, checkedBy, type DocSet, intersectionOf, readAll, unionOf } from './doc-set.ts';
import { keysOf } from './sorted.ts';

// The contract of all sets of documents.

let database: SearchingProcess;
useDatabase((opened) => {
  database = withCaches(opened);
});

/** Holds what every set promises. `open` makes the same set again. */
async function holdContract(open: () => DocSet | Promise<DocSet>, expected: Float64Array, limit: number) {
  const set = await open();
  if (expected.length > 0) expect(set.estimate).toBeGreaterThan(0);
  const found: number[] = [];
  for (let keys = await set.next(limit); keys; keys = await set.next(limit)) {
    expect(keys.length).toBeGreaterThan(0);
    // It may be asked at any time, and moves nothing.
    expect(await set.among(keys)).toEqual(keys);
    found.push(...keys);
  }
  expect(found).toEqual([...expected]);
  expect(await set.next(limit)).toBeUndefined();
  expect(await (await open()).among(expected)).toEqual(expected);
  expect(await readAll(await open())).toEqual(expected);
}

const keys = fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 120 }).map((all) => keysOf(all));
const limit = fc.integer({ min: 1, max: 50 });

describe('a set of documents keeps its contract', () => {
  it('as an array, a union, an intersection and a check', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(keys, { minLength: 1, maxLength: 4 }), limit, async (arrays, atOnce) => {
        const [first = new Float64Array()] = arrays;
        const inAll = first.filter((key) => arrays.every((each) => each.includes(key)));
        const isEven = (key: number) => key % 2 === 0;
        await holdContract(() => arraySet(first), first, atOnce);
        await holdContract(
          () => unionOf(arrays.map(arraySet)),
          keysOf(arrays.flatMap((each) => [...each])),
          atOnce,
        );
        await holdContract(() => intersectionOf(arrays.map(arraySet)), inAll, atOnce);
        await holdContract(
          () => checkedBy(arraySet(first), async (some) => some.filter(isEven)),
          first.filter(isEven),
          atOnce,
        );
      }),
      { numRuns: runs(60) },
    );
  });

  it('as a list, and as a range of a column', async () => {
    const [list, column] = [wordList(1), columnList(2)];
    await fc.assert(
      fc.asyncProperty(fc.array(keys, { minLength: 1, maxLength: 4 }), limit, async (parts, atOnce) => {
        await database.query('truncate index_1.run');
        const all = keysOf(parts.flatMap((each) => [...each]));
        const added = new Set<number>();
        for (const part of parts) {
          const fresh = [...part].filter((key) => !added.has(key));
          for (const key of fresh) added.add(key);
          const entries = [list, column].map((each) => ({
            list: each,
            keys: fresh,
            marks: fresh.map((key) => key % 100),
          }));
          await database.transaction((tx) => addToLists(tx, 'index_1', fresh.length > 0 ? entries : []));
        }
        const open = async (of: number, passes?: (mark: number) => boolean) => {
          database.caches.lists.clear();
          const directory = (await openLists(database, [of])).get(of);
          return directory ? listSet(database, directory, passes) : arraySet(new Float64Array());
        };
        await holdContract(() => open(list), all, atOnce);
        const isLow = (mark: number) => mark < 50;
        await holdContract(
          () => open(column, isLow),
          all.filter((key) => isLow(key % 100)),
          atOnce,
        );
      }),
      { numRuns: runs(15) },
    );
  });

  it('as all resources, those of catalogs, those that offers cover, and those in scope', async () => {
    const incoming = Array.from({ length: 5 }, (_, number) => ({
      ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: ['n'] },
      mode: 'FULL' as const,
      catalog: catalog(`c${number}`, {
        resources: Array.from({ length: 4 }, (_, index) => plain(`c${number}-${index}`)),
        offers: [
          offer('named', { resourceIds: [`c${number}-1`, `c${number}-3`] }),
          ...(number % 2 ? [offer('wide')] : []),
        ],
      }),
    }));
    await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply(incoming)));
    const { rows } = await database.query<{ key: number }>('select key from discovery.catalog order by key');
    const catalogs = rows.map(({ key }) => key);
    const of = (numbers: (place: number) => number[]) =>
      keysOf(catalogs.flatMap((key, place) => numbers(place).map((number) => keyOf(key, number))));
    const all = of(() => [1, 2, 3, 4]);
    for (const atOnce of [1, 3, 100]) {
      await holdContract(() => everyDocument(database, 'resource'), all, atOnce);
      await holdContract(
        () => membersOf(database, arraySet(of((place) => (place < 2 ? [0] : [])))),
        of((place) => (place < 2 ? [1, 2, 3, 4] : [])),
        atOnce,
      );
      await holdContract(
        () => coveredBy(database, everyDocument(database, 'offer'), { now: new Date() }),
        of((place) => (place % 2 ? [1, 2, 3, 4] : [2, 4])),
        atOnce,
      );
      const scope = { now: new Date(), networkId: 'n', schemaContext: [] };
      await holdContract(() => inScope(database, everyDocument(database, 'resource'), scope), all, atOnce);
    }
  });
});
