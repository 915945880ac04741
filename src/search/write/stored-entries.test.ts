import { describe, expect, it } from 'vitest';
import { catalog, charger, offer } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database } from '../../storage/database.ts';
import { firstNumbers, numberOf } from '../documents/keys.ts';
import { type IndexFormat, type IndexFormats, indexFormats, newestOf } from '../format/index-format.ts';
import { entriesOf, everyResource, isOfNumbers, type StoredRun } from '../lists/runs.ts';
import type { IncomingCatalog } from './target.ts';
import { writeIndex } from './write-index.ts';

let database: Database;
useDatabase(
  (opened) => {
    database = opened;
  },
  {
    emptied:
      'discovery.catalog, discovery.resource, discovery.offer, discovery.run, discovery.geometry cascade',
  },
);

const newest = newestOf(indexFormats);
/** The same version with another tokenizer: the words that it would make of a document are none that the index has. */
const otherWords: IndexFormat = {
  ...newest,
  tokenizer: { index: (text) => new Set([`other ${text.length}`]), query: () => [] },
};
/** A later version with other facts and numbers. */
const otherFacts: IndexFormat = {
  ...newest,
  version: newest.version + 1,
  attributes: {
    ...newest.attributes,
    entries: () => ({ facts: new Set([4711]), numbers: new Map([[815, new Set([1])]]), objects: new Set() }),
  },
};

describe('the words that are stored beside a document', () => {
  it('are what leaves the posting lists when it changes, whatever the tokenizer would make of it now', async () => {
    await apply(catalogWith(1), indexFormats);
    await apply(catalogWith(2), [otherWords]);
    const words = (await readLists(1)).map(([list]) => list).filter((list) => list < everyResource);
    const texts = await wordsOf(words.filter((list) => !isOfNumbers(list)).map((list) => -list / 2));
    expect(texts).toEqual(texts.filter((word) => word.startsWith('other ')));
    expect(texts).toContain('other 9');
  });

  it('are what leaves the posting lists when documents go, whatever the tokenizer would make of them now', async () => {
    await apply(catalogWith(1), indexFormats);
    await apply({ ...catalogWith(1), resources: [], offers: [] }, [otherWords]);
    expect(await readLists(1)).toEqual([]);
    expect(await readLists(firstNumbers.offer)).toEqual([]);
  });
});

describe('the facts and numbers of a document', () => {
  it('leave the posting lists as the format of its catalog makes them, whichever newer ones the process knows', async () => {
    await apply(catalogWith(1), indexFormats);
    expect((await readLists(1)).length).toBeGreaterThan(10);
    await apply({ ...catalogWith(1), resources: [] }, [...indexFormats, otherFacts]);
    expect(await readLists(1)).toEqual([]);
  });
});

describe('the entries of a document', () => {
  it('are made anew as version 0 made them where it did not store them', async () => {
    await apply(catalogWith(1), indexFormats);
    await database.query('update discovery.offer set words = null');
    await apply({ ...catalogWith(1), resources: [], offers: [] }, indexFormats);
    expect(await readLists(1)).toEqual([]);
    expect(await readLists(firstNumbers.offer)).toEqual([]);
  });

  it('are made anew with the weights of version 0, whatever a word of an offer counts now', async () => {
    const [before] = indexFormats;
    const weights = { ...before.weights, offer: () => new Map([['old', 0.5]]) };
    const formats: IndexFormats = [{ ...before, weights }, newest];
    await database.query('update discovery.index_state set version = 0, next = 0');
    await apply(catalogWith(1), formats).finally(() =>
      database.query('update discovery.index_state set version = 1, next = 1'),
    );
    expect(await readLists(firstNumbers.offer)).toHaveLength(1);
    await database.query('update discovery.offer set words = null');
    await apply({ ...catalogWith(1), offers: [] }, formats);
    expect(await readLists(firstNumbers.offer)).toEqual([]);
  });

  it('are in the format that the catalog has, however new the formats are that the process knows', async () => {
    await apply(catalogWith(1), indexFormats);
    await apply(catalogWith(2), [...indexFormats, otherFacts]);
    expect((await readLists(1)).map(([list]) => list)).not.toContain(4711);
    expect(await versions()).toEqual([{ index_version: 1 }]);
  });

  it('cannot be written by a program that does not know the version of the catalog', async () => {
    await apply(catalogWith(1), indexFormats);
    await expect(apply(catalogWith(2), [{ ...newest, version: 0 }])).rejects.toThrow(
      'The index has entries of version 1; this program knows 0.',
    );
  });
});

/** What posting lists hold of the document with a number: the lists, and what stands beside it. */
async function readLists(number: number): Promise<[number, number][]> {
  const { rows } = await database.query<StoredRun>('select * from discovery.run');
  return rows.flatMap((run) => {
    const { keys, marks } = entriesOf(run.list, [run]);
    return keys.flatMap((key, index): [number, number][] =>
      numberOf(key) === number ? [[run.list, marks[index] ?? 0]] : [],
    );
  });
}

async function wordsOf(ids: number[]): Promise<string[]> {
  const { rows } = await database.query<{ word: string }>(
    'select word from discovery.word where id = any ($1::int[]) order by word',
    [ids],
  );
  return rows.map(({ word }) => word);
}

async function versions(): Promise<object[]> {
  return (await database.query('select index_version from discovery.catalog')).rows;
}

function catalogWith(price: number) {
  return catalog('c', {
    resources: [charger('r', { price, tags: ['fast', price] })],
    offers: [offer('o', { resourceIds: ['r'], descriptor: { name: `Offer ${price}` } })],
  });
}

async function apply(sent: IncomingCatalog['catalog'], formats: IndexFormats): Promise<void> {
  const incoming: IncomingCatalog = {
    ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR', networks: null, mode: 'FULL' },
    catalog: sent,
  };
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply([incoming]), formats));
}
