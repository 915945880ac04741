import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AnswerDraft,
  type FoundResource,
  maxAnswerBytes,
  neededCount,
  type Paging,
  type StoredDocument,
} from './page-answer.ts';

const stored = (id: string, more = ''): StoredDocument => ({
  text: JSON.stringify({ id, ...(more && { more }) }),
});
const [one, two] = [stored('c1'), stored('c2')];
const offers = [stored('o1'), stored('o2')];
const found = (catalog: StoredDocument, id: string, ...indexes: number[]): FoundResource => ({
  ranked: { catalogId: JSON.parse(catalog.text).id, resourceId: id },
  catalog,
  resource: stored(id),
  offers: indexes.flatMap((index) => offers[index] ?? []),
});

const ranked = { catalogId: 'c', resourceId: 'r' };

function pageAnswer(
  page: readonly FoundResource[],
  total: number,
  paging: Paging,
  maxBytes = maxAnswerBytes,
) {
  const draft = new AnswerDraft(maxBytes);
  draft.add(page);
  return draft.finish(total, paging);
}

describe('AnswerDraft', () => {
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

  it('says nothing of pages where the request did not page, also where something is missing', () => {
    const whole = pageAnswer([found(one, 'r1')], 1, {});
    expect(whole).not.toHaveProperty('pagination');
    expect(whole).not.toHaveProperty('leftOut');
    const cut = pageAnswer([found(one, 'r1')], 250, {});
    expect(cut).not.toHaveProperty('pagination');
    expect(cut.leftOut).toEqual({ resources: 249, orMore: false, offers: 0 });
  });

  it('knows of more than a thousand only that there are more', () => {
    expect(pageAnswer([found(one, 'r1')], 1_001, {}).leftOut).toMatchObject({
      resources: 1_000,
      orMore: true,
    });
    expect(pageAnswer([found(one, 'r1')], 1_000, {}).leftOut).toMatchObject({
      resources: 999,
      orMore: false,
    });
  });

  it.each([
    ['where the request has a limit', 1, { limit: 10 }, { total: 1, limit: 10, offset: 0 }],
    ['where the request has an offset', 3, { offset: 2 }, { total: 3, limit: 1_000, offset: 2 }],
  ])('has a pagination %s', (_, total, paging, pagination) => {
    expect(pageAnswer([found(one, 'r1')], total, paging).pagination).toEqual(pagination);
  });

  it('never counts fewer than it has listed', () => {
    expect(pageAnswer([found(one, 'r1')], 0, { offset: 5 }).pagination?.total).toBe(6);
  });

  it('counts what there is also on a page beyond it', () => {
    const beyond = pageAnswer([], 3, { offset: 10 });
    expect(beyond).toMatchObject({ resourceCount: 0, total: 3, pagination: { total: 3, offset: 10 } });
    expect(beyond).not.toHaveProperty('leftOut');
  });

  it('ends where the answer is full, and tells by its limit where to go on', () => {
    const page = [found(one, 'r1'), found(one, 'r2'), found(one, 'r3')];
    const { resourceCount, pagination, leftOut } = pageAnswer(page, 3, { limit: 3 }, 70);
    expect(resourceCount).toBe(2);
    expect(pagination).toEqual({ total: 3, limit: 2, offset: 0 });
    expect(leftOut).toEqual({ resources: 1, orMore: false, offers: 0 });
  });

  it('lists the first resource whatever its size, and as many of its offers as fit', () => {
    const many = Array.from({ length: 100 }, (_, index) => stored(`o${index}`));
    const resource = { ranked, catalog: one, resource: stored('r1'), offers: many };
    const { catalogs, pagination, leftOut } = pageAnswer([resource, resource], 2, { offset: 0 }, 200);
    const [catalog] = JSON.parse(catalogs);
    expect(catalog.resources).toEqual([{ id: 'r1' }]);
    expect(catalog.offers.length).toBeGreaterThan(5);
    expect(catalogs.length).toBeLessThanOrEqual(200);
    expect(pagination).toEqual({ total: 2, limit: 1, offset: 0 });
    expect(leftOut).toMatchObject({ resources: 1, offers: 100 - catalog.offers.length });
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
        const resources = documents.texts.map(([catalogIndex, more], index) => ({
          ranked,
          catalog: documents.catalogs[catalogIndex] ?? documents.catalogs[0] ?? one,
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

describe('an answer that is put together part by part', () => {
  it('asks for as many documents as it has room for, judged by those that it has', () => {
    const draft = new AnswerDraft(10_000);
    expect(draft.roomFor).toBe(100);
    draft.add(
      Array.from({ length: 10 }, (_, index) => ({
        ranked,
        catalog: one,
        resource: stored(`r${index}`, 'x'.repeat(460)),
        offers: [],
      })),
    );
    expect(draft.roomFor).toBeGreaterThanOrEqual(9);
    expect(draft.roomFor).toBeLessThanOrEqual(12);
    draft.add([{ ranked, catalog: two, resource: stored('large', 'x'.repeat(9_000)), offers: [] }]);
    expect(draft.isFull).toBe(true);
    // A later document that would fit does not come before an earlier one that did not fit.
    draft.add([found(one, 'small')]);
    expect(draft.finish(12, {})).toMatchObject({ resourceCount: 10, leftOut: { resources: 2 } });
  });
});

describe('neededCount', () => {
  it('is enough for an exact total up to a thousand, and for knowing whether there is more', () => {
    expect(neededCount({})).toBe(1_001);
    expect(neededCount({ limit: 1_000, offset: 5_000 })).toBe(6_001);
  });
});
