import { beforeEach, describe, expect, it } from 'vitest';
import { catalog, charger, offer } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { readIndexContent } from '../../../tests/support/search/index-content.ts';
import { addToLists, removeFromLists } from '../../../tests/support/search/list-entries.ts';
import type { Database } from '../../storage/database.ts';
import { lookupOf, presenceFact } from '../entries/attributes.ts';
import { indexFormats } from '../entries/index-format.ts';
import { firstNumbers, keyOf } from '../keys.ts';
import { writeIndex } from '../write/write-index.ts';
import { checkIndex, type Difference } from './check.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

/** A resource of the second catalog. */
const resource = keyOf(2, 1);
const theOffer = keyOf(2, firstNumbers.offer);
const gone = keyOf(9, 3);
/** The fact that a resource has a descriptor. */
const descriptor = lookupOf([{ name: 'descriptor' }], 'resource').path;
const fact = presenceFact(descriptor);
const atPlaces = expect.stringMatching(/^\$\.catalogs\[\*\]\.resources\[\*\]\.places\[\*\]\.geo \d+$/);
const somewhere = { type: 'Point', coordinates: [10, 50] };

let sound: string[];
beforeEach(async () => {
  await database.query(
    `truncate discovery.catalog, discovery.resource, discovery.offer, discovery.offer_target, index_1.run, index_1.geometry,
       index_1.word, index_1.deletion, index_1.object_path restart identity cascade`,
  );
  const incoming = ['c1', 'c2', 'c3'].map((id) => ({
    ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: null },
    mode: 'FULL' as const,
    catalog: catalog(id, {
      resources: [1, 2].map((n) => ({
        ...charger(`${id}-${n}`, { price: n, inner: { tags: ['fast', n] } }),
        places: [{ geo: somewhere }, { geo: { coordinates: [n, 10], type: 'Point' } }],
      })),
      offers: [offer(`${id}-o`, { resourceIds: [`${id}-1`] })],
    }),
  }));
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply(incoming)));
  sound = await readIndexContent(database);
});

describe('a check of the index', () => {
  it.each([1, 2, 4, 20_000])(
    'finds nothing in a sound one, %s documents at a time',
    async (documentsAtOnce) => {
      expect(await check({ documentsAtOnce })).toEqual([]);
    },
  );

  it.each<[string, () => Promise<unknown>, object[]]>([
    [
      'an entry that a list lacks',
      () => change((tx) => removeFromLists(tx, [{ list: fact, keys: [resource], marks: [0] }])),
      [{ what: 'list', kind: 'missing', key: resource, name: `${fact} 0` }],
    ],
    [
      'an entry that a list has too many',
      () => change((tx) => addToLists(tx, 'index_1', [{ list: 7, keys: [resource], marks: [0] }])),
      [{ what: 'list', kind: 'surplus', key: resource, name: '7 0' }],
    ],
    [
      'an entry that a list has twice',
      () => change((tx) => addToLists(tx, 'index_1', [{ list: fact, keys: [resource], marks: [0] }])),
      [{ what: 'list', kind: 'surplus', key: resource, name: `${fact} 0` }],
    ],
    [
      'an entry of a document that has gone, and of a catalog that has',
      () =>
        change((tx) => addToLists(tx, 'index_1', [{ list: 7, keys: [keyOf(2, 77), gone], marks: [0, 0] }])),
      [
        { what: 'list', kind: 'surplus', key: keyOf(2, 77), name: '7 0' },
        { what: 'list', kind: 'surplus', key: gone, name: '7 0' },
      ],
    ],
    [
      'a geometry that is missing',
      () => database.query('delete from index_1.geometry where key = $1 and position = 0', [resource]),
      [{ what: 'geometry', kind: 'missing', key: resource, name: atPlaces }],
    ],
    [
      'a geometry whose box is not around it',
      () =>
        database.query(
          "update index_1.geometry set box = '(0,0,0,0),(1,1,1,1)' where key = $1 and position = 0",
          [resource],
        ),
      [
        { what: 'geometry', kind: 'missing', key: resource, name: atPlaces },
        { what: 'geometry', kind: 'surplus', key: resource, name: atPlaces },
      ],
    ],
    [
      'a geometry of a document that has gone',
      () =>
        database.query('update index_1.geometry set key = $2 where key = $1 and position = 0', [
          resource,
          gone,
        ]),
      [
        { what: 'geometry', kind: 'missing', key: resource, name: atPlaces },
        { what: 'geometry', kind: 'surplus', key: gone, name: atPlaces },
      ],
    ],
    [
      'an object path that is missing',
      () => database.query('delete from index_1.object_path where digest = md5($1)::uuid', [descriptor]),
      [1, 2, 3].flatMap((home) =>
        [1, 2].map((number) => ({
          ...{ what: 'object path', kind: 'missing', key: keyOf(home, number) },
          name: descriptor,
        })),
      ),
    ],
    [
      'a word without its keys for typing errors',
      () =>
        database.query(
          "delete from index_1.deletion using index_1.word where id = word_id and word = 'charger'",
        ),
      [{ what: 'typing key', kind: 'missing', key: keyOf(1, 1), name: 'charger' }],
    ],
    [
      'a resource that does not lead to an offer on it',
      () => database.query('delete from discovery.offer_target where offer_key = $1', [theOffer]),
      [{ what: 'offer target', kind: 'missing', key: theOffer, name: 'c2-1' }],
    ],
  ])('finds %s, and mends it', async (_, damage, differences) => {
    await damage();
    expect(await check()).toEqual(differences.map((each) => ({ ...each, generation: 1 })));
    expect(await check({ mend: true, documentsAtOnce: 2 })).not.toEqual([]);
    expect(await check()).toEqual([]);
    expect(await readIndexContent(database)).toEqual(sound);
  });

  it('finds a word that has no number any more, and mends all that stands in it', async () => {
    await database.query("delete from index_1.word where word = 'charger'");
    const found = await check();
    expect(found.filter(({ what }) => what === 'word')).toHaveLength(6);
    await check({ mend: true });
    expect(await check()).toEqual([]);
    expect(await readIndexContent(database)).toEqual(sound);
  });

  it('takes for no difference what is written meanwhile', async () => {
    let writes = 0;
    const stop = new AbortController();
    const writing = (async () => {
      for (; !stop.signal.aborted; writes++) {
        const content = catalog('c2', { resources: [charger(`new-${writes}`, { price: writes })] });
        const incoming = {
          ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: null },
          ...{ mode: 'FULL' as const, catalog: content },
        };
        await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply([incoming])));
      }
    })();
    for (let round = 0; round < 10; round++) expect(await check({ documentsAtOnce: 2 })).toEqual([]);
    stop.abort();
    await writing;
    expect(writes).toBeGreaterThan(0);
  });
});

async function check(options: { mend?: boolean; documentsAtOnce?: number } = {}): Promise<Difference[]> {
  const found: Difference[] = [];
  const checked = await checkIndex(database, indexFormats, {
    ...options,
    onDifference: (difference) => void found.push(difference),
  });
  expect(checked.differences).toBe(found.length);
  return found;
}

function change(work: Parameters<Database['transaction']>[0]): Promise<unknown> {
  return database.transaction(work);
}
