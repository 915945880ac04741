import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../tests/support/reproducible.ts';
import type { JsonObject } from '../protocol/json.ts';
import { type CatalogPart, readHeads, splitCatalogs } from './split-catalogs.ts';

function* inChunks(text: string, size: number): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The reassembled catalogs. */
async function read(text: string, chunkBytes = 7, path = ['catalogs']): Promise<JsonObject[]> {
  const catalogs: JsonObject[] = [];
  const parts: AsyncIterable<CatalogPart> = splitCatalogs(inChunks(text, chunkBytes), { path, items: true });
  for await (const part of parts) {
    const last = catalogs.at(-1) ?? {};
    if (part.kind === 'catalog') catalogs.push({});
    else if (part.kind === 'member') Object.assign(last, { [part.name]: part.value });
    else if (part.kind !== 'end') last[part.kind] = [...((last[part.kind] as []) ?? []), part.value];
  }
  return catalogs;
}

describe('splitting a document into the parts of its catalogs', () => {
  it('finds every catalog, member, resource and offer again, wherever the document is cut into chunks', async () => {
    const item = fc.record({ id: fc.string(), more: fc.jsonValue() });
    const catalog = fc.record({
      id: fc.string(),
      'a "quoted" \\ name': fc.jsonValue(),
      resources: fc.array(item, { minLength: 1, maxLength: 3 }),
      offers: fc.array(item, { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(catalog, { maxLength: 3 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(undefined, 2),
        async (catalogs, chunkBytes, indent) => {
          const given = JSON.parse(JSON.stringify(catalogs));
          const text = JSON.stringify({ before: [{ catalogs: 1 }], catalogs, behind: '"}]' }, null, indent);
          expect(await read(text, chunkBytes)).toEqual(given);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it('goes down to the catalogs of an answer, and reads their heads alone', async () => {
    const text = JSON.stringify({
      context: { catalogs: [{}] },
      message: { pagination: { total: 1 }, catalogs: [{ resources: [{ id: 'r' }], id: 'c', offers: [] }] },
    });
    expect(await readHeads(inChunks(text, 5), ['message', 'catalogs'])).toEqual([{ id: 'c' }]);
  });

  it.each([
    ['nothing', ''],
    ['a truncated document', '{"catalogs":[{"id":"c","resources":[{"id":"r"}'],
    ['a truncated text', '{"catalogs":[{"id":"c'],
    ['another document behind it', '{"catalogs":[]} {}'],
    ['no catalogs', '{"other":[]}'],
    ['two lists of catalogs', '{"catalogs":[],"catalogs":[]}'],
    ['catalogs that are no list', '{"catalogs":{}}'],
    ['a catalog that is no object', '{"catalogs":[1]}'],
    ['resources that are no list', '{"catalogs":[{"resources":{}}]}'],
    ['a member that is there twice', '{"catalogs":[{"id":"a","id":"b"}]}'],
    ['a member that is twice in a resource', '{"catalogs":[{"resources":[{"id":"a","id":"b"}]}]}'],
    ['wrong brackets', '{"catalogs":[{"id":[1}]]}'],
    ['a missing comma', '{"catalogs":[{"id":"a" "b":1}]}'],
    ['a comma too many', '{"catalogs":[{"id":"a"},]}'],
    ['what is no literal', '{"catalogs":[{"id":nul}]}'],
  ])('refuses %s', async (_, text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'SCH_INVALID_JSON' });
  });

  it('refuses a single value that is too large to be held', async () => {
    const text = JSON.stringify({ catalogs: [{ id: 'x'.repeat(100) }] });
    const parts = splitCatalogs(inChunks(text, 10), { path: ['catalogs'], items: true, maxValueBytes: 50 });
    await expect(parts.next().then(() => parts.next())).rejects.toMatchObject({ code: 'SCH_INVALID_JSON' });
  });
});
