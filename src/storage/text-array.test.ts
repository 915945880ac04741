import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database.ts';
import type { Database } from './database.ts';
import { textArray } from './text-array.ts';

describe('a binary array of texts', () => {
  let database: Database;

  useDatabase((opened) => {
    database = opened;
  });

  it('arrives as it was, whatever the texts', async () => {
    // PostgreSQL has no text with U+0000.
    const text = fc.string({ unit: 'binary' }).filter((candidate) => !candidate.includes('\0'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text)), async (texts) => {
        const { rows } = await database.query('select $1::text[] as texts', [textArray(texts)]);
        expect(rows).toEqual([{ texts }]);
      }),
    );
  });
});
