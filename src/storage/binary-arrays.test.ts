import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database/database.ts';
import {
  bigintArray,
  bytesArray,
  doubleArray,
  integerArray,
  smallintArray,
  textArray,
} from './binary-arrays.ts';
import type { Database } from './database.ts';

describe('a binary array', () => {
  let database: Database;

  useDatabase((opened) => {
    database = opened;
  });

  async function arrivesAs(type: string, array: Buffer): Promise<unknown> {
    const { rows } = await database.query(`select $1::${type}[] as items`, [array]);
    return rows[0]?.items;
  }

  it('of texts arrives as it was, whatever the texts', async () => {
    // PostgreSQL has no text with U+0000.
    const text = fc.string({ unit: 'binary' }).filter((candidate) => !candidate.includes('\0'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text)), async (texts) => {
        expect(await arrivesAs('text', textArray(texts))).toEqual(texts);
      }),
    );
  });

  it('of bytes arrives as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(fc.uint8Array())), async (values) => {
        const buffers = values.map((bytes) => bytes && Buffer.from(bytes));
        expect(await arrivesAs('bytea', bytesArray(values))).toEqual(buffers);
      }),
    );
  });

  it.each([
    ['bigint', bigintArray, fc.maxSafeInteger()],
    ['integer', integerArray, fc.integer()],
    ['smallint', smallintArray, fc.integer({ min: -32_768, max: 32_767 })],
    ['float8', doubleArray, fc.double({ noNaN: true })],
  ])('of numbers arrives as it was: %s', async (type, arrayOf, number) => {
    await fc.assert(
      fc.asyncProperty(fc.array(number), async (numbers) => {
        expect(await arrivesAs(type, arrayOf(numbers))).toEqual(numbers);
      }),
    );
  });
});
