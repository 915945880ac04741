import { expect, it } from 'vitest';
import { useWatchedSearch } from '../../../tests/support/search/watched-search.ts';

const search = useWatchedSearch();

it('each of many unknown words is looked for among its own candidates, not among those of all', async () => {
  const letters = 'abcdefghijklmnopqrst';
  const beginnings = [...letters].map((letter) => `b${letter}u`);
  await search.database.query(
    `insert into index_1.word (word)
     select beginning || translate(lpad(number::text, 3, '0'), '0123456789', 'cdfghjklmn')
     from unnest($1::text[]) as beginning, generate_series(0, 999) as number`,
    [beginnings],
  );
  let [candidates, reads] = [0, 0];
  search.answered = (statement, rows) => {
    if (!statement.includes('index_1.word')) return rows;
    candidates += rows.length;
    return rows.map((row) =>
      Object.defineProperty({ ...row }, 'word', { get: () => readWord(row), enumerable: true }),
    );
  };
  const readWord = (row: object) => {
    reads++;
    return (row as { word: string }).word;
  };
  await search.find({ textSearch: beginnings.map((beginning) => `${beginning}x`).join(' ') });
  // A word has at most 500 candidates of its forms, and some of its typing errors.
  expect(candidates).toBeGreaterThan(0);
  expect(candidates).toBeLessThan(beginnings.length * 600);
  // The word of each candidate is read to assign it to its lookup, but not once for each word of the text.
  expect(reads).toBeLessThanOrEqual(candidates * 4);
});
