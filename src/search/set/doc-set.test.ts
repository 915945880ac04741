import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalog, offer, plain } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { patienceMs } from '../../../tests/support/patience.ts';
import { runs } from '../../../tests/support/reproducible.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { addToLists } from '../../../tests/support/search/list-entries.ts';
import type { Position } from '../../protocol/geojson.ts';
import { createDeadline } from '../deadline.ts';
import { everyDocument, membersOf } from '../documents/members.ts';
import { coveredBy } from '../documents/own-offers.ts';
import { inScope, type Scope } from '../documents/scope.ts';
import { keyOf } from '../keys.ts';
import { columnList, wordList } from '../lists/list-numbers.ts';
import { listSet } from '../lists/list-set.ts';
import { openLists } from '../lists/read-lists.ts';
import { planConstraint } from '../spatial/constraint.ts';
import { openPlace } from '../spatial/place.ts';
import { createTrace } from '../trace.ts';
import { writeIndex } from '../write/write-index.ts';
import { checkedBy, type DocSet, intersectionOf, readAll, unionOf } from './doc-set.ts';
import { difference, intersection, type Keys, keysOf, noKeys, union } from './sorted.ts';

// The contract of all sets of documents.

let database: SearchingProcess;
useDatabase((opened) => {
  database = withCaches(opened);
});

/** A set of known keys. */
function arraySet(keys: Keys): DocSet {
  let at = 0;
  return {
    estimate: keys.length,
    async next(limit) {
      const batch = keys.subarray(at, at + limit);
      at += batch.length;
      return batch.length > 0 ? batch : undefined;
    },
    among: async (wanted) => intersection(wanted, keys),
  };
}

/** Checks the contract of every set. `open` creates the same set again; `others` are keys that need not be in it. */
async function holdContract(
  open: () => DocSet | Promise<DocSet>,
  expected: Keys,
  { limit, others }: { limit: number; others: Keys },
) {
  const set = await open();
  if (expected.length > 0) expect(set.estimate).toBeGreaterThan(0);
  const found: number[] = [];
  for (let keys = await set.next(limit); keys; keys = await set.next(limit)) {
    expect(keys.length).toBeGreaterThan(0);
    // It may be called at any time, without side effects.
    expect(await set.among(keys)).toEqual(keys);
    found.push(...keys);
  }
  expect(found).toEqual([...expected]);
  expect(await set.next(limit)).toBeUndefined();
  expect(await (await open()).among(expected)).toEqual(expected);
  expect(await (await open()).among(union([expected, others]))).toEqual(expected);
  expect(await (await open()).among(difference(others, expected))).toEqual(noKeys);
  expect(await readAll(await open())).toEqual(expected);
}

const keys = fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 120 }).map((all) => keysOf(all));
const others = keysOf(Array.from({ length: 400 }, (_, index) => index + 1));
const limits = fc.integer({ min: 1, max: 50 }).map((limit) => ({ limit, others }));

describe('a set of documents keeps its contract', () => {
  it('as an array, a union, an intersection and a check', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(keys, { minLength: 1, maxLength: 4 }), limits, async (arrays, atOnce) => {
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

  it('as a check that few pass: whole numbers of keys are asked for, and no more once enough have passed', async () => {
    const asked: number[] = [];
    const all = arraySet(keysOf(Array.from({ length: 30_000 }, (_, index) => index)));
    const watched: DocSet = {
      ...all,
      next(limit) {
        asked.push(limit);
        return all.next(limit);
      },
    };
    const few = checkedBy(watched, async (some) => some.filter((key) => key % 7 === 0));
    expect((await few.next(1_000))?.length).toBeGreaterThan(900);
    expect(asked).toEqual([1_000, expect.closeTo(6_000, -2)]);
    expect(asked.every(Number.isInteger)).toBe(true);
    const most = checkedBy(watched, async (some) => some.subarray(1));
    expect((await most.next(1_000))?.length).toBe(999);
    expect(asked.length).toBe(3);
  });

  it('as a list, and as a range of a column', async () => {
    const [list, column] = [wordList(1), columnList(2)];
    await fc.assert(
      fc.asyncProperty(fc.array(keys, { minLength: 1, maxLength: 4 }), limits, async (parts, atOnce) => {
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

  it('as all resources, those of catalogs, those that offers cover, those in scope, and those of a place', async () => {
    const incoming = Array.from({ length: 5 }, (_, number) => ({
      ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: ['n'] },
      mode: 'FULL' as const,
      catalog: catalog(`c${number}`, {
        resources: Array.from({ length: 4 }, (_, index) => ({
          ...plain(`c${number}-${index}`),
          geo: { type: 'Point', coordinates: [number, index] },
        })),
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
    for (const limit of [1, 3, 100]) {
      const atOnce = { limit, others: all };
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
      await holdContract(
        () => openPlaceSet(scope),
        of((place) => (place < 2 ? [2, 3, 4] : [])),
        atOnce,
      );
    }
  });
});

/** The resources in an area around the first two catalogs, without the first resource of each. */
async function openPlaceSet(scope: Scope): Promise<DocSet> {
  const ring = [
    [-0.5, 0.5],
    [1.5, 0.5],
    [1.5, 9],
    [-0.5, 9],
    [-0.5, 0.5],
  ] as Position[];
  const plan = planConstraint(
    {
      ...{ operator: 'S_INTERSECTS', quantifier: 'ANY', targets: [] },
      geometry: { type: 'Polygon', coordinates: [ring] },
    },
    0,
    ['$.catalogs[*].resources[*].geo'],
  );
  const tools = {
    ...{ reader: database, scope, deadline: createDeadline(patienceMs), trace: createTrace() },
    evaluation: { begin: fail, run: fail },
    database,
  };
  return (await openPlace(tools, [plan], { isBesideOthers: false, countUpTo: 100 })).set();
}

/** This few points need no thread. */
function fail(): never {
  throw new Error('a thread was asked');
}
