import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database/database.ts';
import { withCaches } from '../../../tests/support/search/index-reader.ts';
import { silentLogger } from '../../logger.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { keyOf } from '../documents/keys.ts';
import { readWordLists } from './outlines.ts';
import { emptyWhole } from './read-whole.ts';
import { addToLists, offerList, wordList } from './runs.ts';

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await createTestDatabase();
  database = await openDatabase({ url: home.url, logger: silentLogger() });
});
afterAll(async () => {
  await database.close();
  await home.drop();
});

it('Short lists are read whole in however many runs they are, together with those of offers, and long ones by their first run.', async () => {
  const [pieces, long, nowhere] = [wordList(1), wordList(2), wordList(3)];
  const inPieces = Array.from({ length: 100 }, (_, index) => keyOf(index + 1, index % 3));
  const inRuns = Array.from({ length: 3_000 }, (_, index) => keyOf(index + 1, 1));
  const offers = inRuns.map((key) => key + 2 ** 25);
  for (const key of inPieces.toReversed()) await add(pieces, [key]);
  await add(long, inRuns);
  await add(offerList(2), offers);
  const statements: string[] = [];
  const reader = withCaches(
    Object.assign(Object.create(database), {
      query(text: string, ...rest: unknown[]) {
        statements.push(text);
        return database.query(text, ...(rest as []));
      },
    }),
  );
  const first = await readWordLists(reader, [pieces, nowhere], [offerList(1), offerList(2)]);
  expect(statements).toHaveLength(1);
  const { part, count } = first.outlines.get(pieces) ?? {};
  expect([...(part?.heads.keys ?? []), ...(part?.others.keys ?? [])].sort((a, b) => a - b)).toEqual(inPieces);
  expect([count, part?.rest]).toEqual([100, undefined]);
  expect(first.outlines.get(nowhere)).toEqual({ part: emptyWhole, count: 0 });
  expect(first.ofOffers.get(offerList(1))).toEqual(emptyWhole);
  expect([...(first.ofOffers.get(offerList(2))?.others.keys ?? [])]).toEqual(offers);

  const second = (await readWordLists(reader, [long], [])).outlines.get(long);
  expect([...(second?.part.others.keys ?? [])]).toEqual(inRuns.slice(0, 320));
  expect([second?.count, second?.part.rest]).toEqual([3_000, { list: long, from: inRuns[320] }]);
});

function add(list: number, keys: number[]): Promise<void> {
  return database.transaction((tx) => addToLists(tx, [{ list, keys, marks: keys.map(() => 7) }]));
}
