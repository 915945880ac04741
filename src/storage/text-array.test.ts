import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { silentLogger } from '../logger.ts';
import { type Database, openDatabase } from './database.ts';
import { textArray } from './text-array.ts';

describe('a binary array of texts', () => {
  let home: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    home = await createTestDatabase();
    database = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 2 });
  });
  afterAll(async () => {
    await database.close();
    await home.drop();
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
