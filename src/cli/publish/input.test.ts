import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../protocol/json.ts';
import { readPublishFile, splitRequest } from './input.ts';

const read = (value: Json, options = {}) => readPublishFile('file.json', value, options);

function messageOf({ message }: JsonObject): { catalogs: Json[]; publishDirectives?: Json[] } {
  return message as unknown as { catalogs: Json[]; publishDirectives?: Json[] };
}

describe('a file to publish', () => {
  it('is a request, a catalog or an array of catalogs', () => {
    const catalog = { id: 'a' };
    expect(read({ message: { catalogs: [catalog] } })).toEqual({ message: { catalogs: [catalog] } });
    expect(read(catalog)).toEqual({ message: { catalogs: [catalog] } });
    expect(read([catalog, { id: 'b' }])).toEqual({ message: { catalogs: [catalog, { id: 'b' }] } });
    expect(read({ retire: ['a'] })).toEqual({ retire: ['a'] });
    expect(() => read('a')).toThrow('has neither');
  });

  it('gets directives for the catalogs that have none, where something is to be said of them', () => {
    const given = { catalogId: 'a', catalogType: 'MASTER' };
    const message = { catalogs: [{ id: 'a' }, { id: 'b' }], publishDirectives: [given] };
    expect(messageOf(read({ message })).publishDirectives).toEqual([given]);
    const network = ['example.org/retail'];
    expect(messageOf(read({ message }, { mode: 'FULL', network })).publishDirectives).toEqual([
      given,
      { catalogId: 'b', catalogType: 'REGULAR', updateMode: 'FULL', visibleTo: network },
    ]);
    expect(read({ id: 'a' })).toEqual({ message: { catalogs: [{ id: 'a' }] } });
  });
});

describe('a request with many catalogs', () => {
  const catalogs = Array.from({ length: 7 }, (_, index) => ({ id: `c-${index}`, text: 'x'.repeat(100) }));
  const publishDirectives = catalogs.map(({ id }) => ({ catalogId: id, catalogType: 'REGULAR' }));
  const request = { context: { version: '2.0.0' }, message: { catalogs, publishDirectives } };

  it('is divided into requests of a size, each catalog with its directive', () => {
    const parts = splitRequest(request, 600);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.flatMap((part) => messageOf(part).catalogs)).toEqual(catalogs);
    for (const part of parts) {
      const { catalogs: own, publishDirectives: directives } = messageOf(part);
      expect(JSON.stringify([own, directives]).length).toBeLessThan(700);
      expect(directives).toHaveLength(own.length);
      expect(part.context).toEqual(request.context);
    }
  });

  it('has its MASTER catalogs in the first requests, where the others find them', () => {
    const master = { catalogId: 'c-6', catalogType: 'MASTER' };
    const message = { catalogs, publishDirectives: [...publishDirectives.slice(0, 6), master] };
    const [first] = splitRequest({ message }, 600).map(messageOf);
    expect(first?.catalogs[0]).toEqual(catalogs[6]);
    expect(first?.publishDirectives?.[0]).toEqual(master);
  });

  it('is left whole where it fits, where one catalog alone does not, and where there is none', () => {
    expect(splitRequest(request, 10_000)).toEqual([request]);
    expect(splitRequest(request, 1)).toHaveLength(7);
    expect(splitRequest({ message: { catalogs: [] } }, 10)).toEqual([{ message: { catalogs: [] } }]);
    expect(splitRequest({ retire: ['a'] }, 10)).toEqual([{ retire: ['a'] }]);
  });
});
