import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from './json.ts';
import { parseJsonItems } from './json-items.ts';

function parse(text: string, lists: RegExp) {
  const { document, items } = parseJsonItems(Buffer.from(text), lists);
  return { document, length: items.length, items: [...items] };
}

describe('a JSON document whose lists are read item by item', () => {
  it('has the items as they are, and the rest with an empty list', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), fc.nat(3), (items, rest, space) => {
        const document = { before: rest, data: { list: items }, 'after "all"': rest };
        const found = parse(JSON.stringify(document, null, space), /^data\.list$/);
        expect(JSON.stringify(found)).toBe(
          JSON.stringify({ document: { ...document, data: { list: [] } }, length: items.length, items }),
        );
      }),
    );
  });

  it.each<[string, string, Json, Json[]]>([
    ['the document itself', ' [1, {"a":[2]} ] ', [], [1, { a: [2] }]],
    ['an empty list', '[ ]', [], []],
    ['no list', '{"list":7}', { list: 7 }, []],
    ['brackets and commas in texts', '["],[", "\\"],"]', [], ['],[', '"],']],
    ['nulls', '[null,null]', [], [null, null]],
  ])('also with %s', (_name, text, document, items) => {
    expect(parse(text, /^(?:list)?$/)).toEqual({ document, length: items.length, items });
  });

  it('has the items of all lists of that name, in whatever lists these are', () => {
    const text = '{"tables":[{"sites":[1,2],"id":"a"},{"sites":[3]},{"sites":4}]}';
    expect(parse(text, /sites$/)).toEqual({
      ...{ document: { tables: [{ sites: [], id: 'a' }, { sites: [] }, { sites: 4 }] } },
      ...{ length: 3, items: [1, 2, 3] },
    });
  });

  it('is refused for the same faults as any other', () => {
    expect(() => parse('[{"a":1,"a":2}]', /^$/)).toThrow('member "a" given twice, at line 1, column 9');
    expect(() => parse('[1,]', /^$/)).toThrow('a JSON value expected');
    expect(() => parse('', /^$/)).toThrow('empty');
  });
});
