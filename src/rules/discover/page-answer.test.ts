import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FoundResource, neededCount, pageAnswer, type StoredDocument } from './page-answer.ts';

const stored = (id: string, more = ''): StoredDocument => ({
  text: JSON.stringify({ id, ...(more && { more }) }),
});
const [one, two] = [stored('c1'), stored('c2')];
const offers = [stored('o1'), stored('o2')];
const found = (catalog: StoredDocument, id: string, ...places: number[]): FoundResource => ({
  catalog,
  resource: stored(id),
  offers: places.flatMap((place) => offers[place] ?? []),
});

describe('pageAnswer', () => {
  it('puts resources back into their catalogs, in the order in which they were found', () => {
    const { catalogs, resourceCount } = pageAnswer(
      [found(two, 'r3', 1), found(one, 'r2'), found(two, 'r1', 0, 1)],
      3,
      {},
    );
    expect(resourceCount).toBe(3);
    expect(JSON.parse(catalogs)).toEqual([
      { id: 'c2', resources: [{ id: 'r3' }, { id: 'r1' }], offers: [{ id: 'o2' }, { id: 'o1' }] },
      { id: 'c1', resources: [{ id: 'r2' }] },
    ]);
  });

  it('says nothing of pages where nobody paged and nothing is missing', () => {
    expect(pageAnswer([found(one, 'r1')], 1, {})).not.toHaveProperty('pagination');
  });

  it.each([
    ['where more was found than is listed', 250, {}, { total: 250, limit: 100, offset: 0 }],
    ['where the request has a limit', 1, { limit: 10 }, { total: 1, limit: 10, offset: 0 }],
    ['where the request has an offset', 3, { offset: 2 }, { total: 3, limit: 100, offset: 2 }],
  ])('has a pagination %s', (_, total, paging, pagination) => {
    expect(pageAnswer([found(one, 'r1')], total, paging).pagination).toEqual(pagination);
  });

  it('never counts fewer than it has listed', () => {
    expect(pageAnswer([found(one, 'r1')], 0, { offset: 5 }).pagination?.total).toBe(6);
  });

  it('ends where the answer is full, and tells by its limit where to go on', () => {
    const page = [found(one, 'r1'), found(one, 'r2'), found(one, 'r3')];
    const { resourceCount, pagination } = pageAnswer(page, 3, {}, 70);
    expect(resourceCount).toBe(2);
    expect(pagination).toEqual({ total: 3, limit: 2, offset: 0 });
  });

  it('lists the first resource whatever its size, and as many of its offers as fit', () => {
    const many = Array.from({ length: 100 }, (_, index) => stored(`o${index}`));
    const resource = { catalog: one, resource: stored('r1'), offers: many };
    const { catalogs, pagination } = pageAnswer([resource, resource], 2, {}, 200);
    const [catalog] = JSON.parse(catalogs);
    expect(catalog.resources).toEqual([{ id: 'r1' }]);
    expect(catalog.offers.length).toBeGreaterThan(5);
    expect(catalogs.length).toBeLessThanOrEqual(200);
    expect(pagination).toEqual({ total: 2, limit: 1, offset: 0 });
    expect(pageAnswer([resource], 1, {}, 10).resourceCount).toBe(1);
  });

  it('is valid JSON within its size, and goes on without gaps', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const catalogs = fc.array(
      text.map((more) => stored('c', more)),
      { minLength: 1, maxLength: 3 },
    );
    const all = fc.record({ catalogs, texts: fc.array(fc.tuple(fc.nat(2), text), { maxLength: 12 }) });
    fc.assert(
      fc.property(all, fc.integer({ min: 300, max: 1_000 }), (documents, maxBytes) => {
        const resources = documents.texts.map(([place, more], index) => ({
          catalog: documents.catalogs[place] ?? documents.catalogs[0] ?? one,
          resource: stored(`r${index}`, more),
          offers: offers.slice(index % 3),
        }));
        const listed: string[] = [];
        while (listed.length < resources.length) {
          const page = pageAnswer(
            resources.slice(listed.length),
            resources.length,
            { offset: listed.length },
            maxBytes,
          );
          expect(Buffer.byteLength(page.catalogs)).toBeLessThanOrEqual(maxBytes);
          const answered = JSON.parse(page.catalogs) as { resources: { id: string }[] }[];
          const ids = answered.flatMap((catalog) => catalog.resources.map(({ id }) => id));
          expect(new Set(ids)).toEqual(
            new Set(
              resources
                .slice(listed.length, listed.length + page.resourceCount)
                .map((_, index) => `r${listed.length + index}`),
            ),
          );
          listed.push(...ids);
          if (listed.length < resources.length) expect(page.pagination?.limit).toBe(ids.length);
        }
      }),
    );
  });
});

describe('neededCount', () => {
  it('is enough for an exact total up to a thousand, and for knowing whether there is more', () => {
    expect(neededCount({})).toBe(1_001);
    expect(neededCount({ limit: 1_000, offset: 5_000 })).toBe(6_001);
  });
});
