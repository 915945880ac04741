import { beforeEach, expect, it } from 'vitest';
import { catalog, plain } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useWatchedSearch } from '../../../tests/support/search/watched-search.ts';
import { maintainIndex } from '../port.ts';

// A search that begins before the switch to another generation of the index, and ends after it. A word has another number in each generation: first,
// numbers follow the order of arrival; after a rebuild, the order of catalogs.

const search = useWatchedSearch();
beforeEach(async () => {
  const descriptor = { name: 'x' };
  const of = (id: string, ...words: string[]) => {
    const resources = words.map((word) => plain(word, word));
    return catalog(id, { descriptor, provider: { id: 'p', descriptor }, resources });
  };
  await search.apply([of('c1', 'zebra')]);
  await search.apply([of('c2', 'banana', 'cherry')]);
  await search.apply([of('c1', 'zebra', 'apple', 'melon')]);
  await find('melon');
});

const find = async (textSearch: string) => (await search.find({ textSearch })).ids;

/** Rebuilds the index when a search reads the dictionary, and runs `meanwhile`. `namesake`: the word that has the number of "zebra" after that. */
async function findZebra(meanwhile: (namesake: string) => Promise<unknown>): Promise<string[]> {
  search.watch = async (statement) => {
    if (!statement.includes('index_1.word')) return;
    search.watch = () => undefined;
    await maintainIndex(search.database).rebuild();
    await meanwhile(await findNamesake());
  };
  return find('zebra');
}

function findNamesake(): Promise<string> {
  return search.database.value(
    `select after.word from index_1.word as before join index_2.word as after using (id) where before.word = 'zebra' and after.word <> 'zebra'`,
  );
}

it('a search that began before another generation came into use finds what it looks for', async () => {
  expect(await findZebra((namesake) => find(namesake))).toEqual(['zebra']);
});

it('a search that began before another generation came into use leaves nothing in the caches of those after it', async () => {
  let namesake = '';
  await findZebra(async (word) => {
    namesake = word;
    await find('nothing');
  });
  expect(await find(namesake)).toEqual([namesake]);
});
