import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database/database.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { removeFromLists } from '../../../tests/support/search/remove-from-lists.ts';
import { silentLogger } from '../../logger.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { refreshCaches } from '../cache/invalidation.ts';
import { keyOf } from '../documents/keys.ts';
import { mergeRuns } from './compact.ts';
import { readRange } from './read-parts.ts';
import { readWholeLists } from './read-whole.ts';
import { addToLists, numberList } from './runs.ts';

const list = 4711;
const path = 815;
const numbers = numberList(path);

let home: TestDatabase;
/** Two processes: each remembers for itself what it has read. */
let reader: SearchingProcess;
let writer: Database;

beforeAll(async () => {
  home = await createTestDatabase();
  const open = () => openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 2 });
  [reader, writer] = [withCaches(await open()), await open()];
});
afterAll(async () => {
  await Promise.all([reader.close(), writer.close()]);
  await home.drop();
});

describe('a list that is read whole', () => {
  it('is as the last commit left it, whoever wrote it and whatever was read before', async () => {
    const change = fc.record({
      kind: fc.constantFrom('add', 'remove', 'merge', 'nothing'),
      keys: fc.uniqueArray(fc.tuple(fc.nat(30), fc.nat(3)), { selector: String, maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 15 }), async (changes) => {
        await writer.query('truncate discovery.run');
        const held = new Set<number>();
        for (const { kind, keys } of changes) {
          const chosen = keys
            .map(([catalog, number]) => keyOf(catalog + 1, number))
            .filter((key) => held.has(key) === (kind === 'remove'));
          if (kind === 'merge') for (const each of [list, numbers]) await mergeRuns(writer, each);
          if (kind === 'add') await writer.transaction((tx) => addToLists(tx, entries(chosen)));
          if (kind === 'remove') await writer.transaction((tx) => removeFromLists(tx, entries(chosen)));
          for (const key of chosen) {
            if (kind === 'add') held.add(key);
            if (kind === 'remove') held.delete(key);
          }
          const sorted = [...held].sort((a, b) => a - b);
          await refreshCaches(reader);
          const whole = (await readWholeLists(reader, [list, 12])).get(list);
          expect([...(whole?.heads.keys ?? [])]).toEqual(sorted.filter((key) => key % 2 ** 26 === 0));
          expect([...(whole?.others.keys ?? [])]).toEqual(sorted.filter((key) => key % 2 ** 26 !== 0));
          const { numbers: inRange } = await readRange(reader, { path }, { maxRuns: 1_000 });
          expect([...inRange.keys].sort((a, b) => a - b)).toEqual(sorted);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('does not show what is not committed yet', async () => {
    await writer.query('truncate discovery.run');
    await writer.transaction((tx) => addToLists(tx, entries([1, 2])));
    await writer.transaction(async (tx) => {
      await addToLists(tx, entries([3]));
      await removeFromLists(tx, entries([1]));
      expect(await keysNow()).toEqual([1, 2]);
    });
    expect(await keysNow()).toEqual([2, 3]);
  });
});

async function keysNow(): Promise<number[]> {
  await refreshCaches(reader);
  return [...((await readWholeLists(reader, [list])).get(list)?.others.keys ?? [])];
}

function entries(keys: number[]): { list: number; keys: number[]; marks: number[] }[] {
  if (keys.length === 0) return [];
  return [
    { list, keys, marks: keys.map(() => 5) },
    { list: numbers, keys, marks: keys.map((key) => key % 7) },
  ];
}
