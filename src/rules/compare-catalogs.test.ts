import { expect, it } from 'vitest';
import type { Json } from '../protocol/json.ts';
import { compareCatalogs } from './compare-catalogs.ts';

const edition = (resources: Record<string, Json>, members = {}) => ({
  members,
  resources: new Map(Object.entries(resources)),
  offers: new Map<string, Json>(),
});

it('names what was added, removed and changed by id and path', () => {
  const before = edition({ a: { id: 'a', name: 'A', tags: ['x'] }, b: { id: 'b' } }, { name: 'Old' });
  const after = edition(
    { a: { id: 'a', name: 'Z', tags: ['x'] }, c: { id: 'c' } },
    { name: 'New', 'a b': 1 },
  );
  expect(compareCatalogs(before, after, { maxChanges: 10 })).toEqual({
    truncated: false,
    changes: [
      { path: '$.name', kind: 'changed', before: 'Old', after: 'New' },
      { path: "$['a b']", kind: 'added', after: 1 },
      { path: "$.resources[?@.id=='a'].name", kind: 'changed', before: 'A', after: 'Z' },
      { path: "$.resources[?@.id=='b']", kind: 'removed', before: { id: 'b' } },
      { path: "$.resources[?@.id=='c']", kind: 'added', after: { id: 'c' } },
    ],
  });
});

it('says that there are more changes than it tells', () => {
  const many = Object.fromEntries(Array.from({ length: 5 }, (_, id) => [`r${id}`, { id }]));
  const compared = compareCatalogs(edition({}), edition(many), { maxChanges: 3 });
  expect([compared.changes.length, compared.truncated]).toEqual([3, true]);
  expect(compareCatalogs(edition({}), edition(many), { maxChanges: 5 }).truncated).toBe(false);
});

it('takes what a template adds for no difference where it is told so', () => {
  const before = edition({ a: { id: 'a', inherited: 1, own: 1 } });
  const after = edition({ a: { id: 'a', own: 2 } });
  const { changes } = compareCatalogs(before, after, {
    maxChanges: 9,
    isPartial: (list) => list === 'resources',
  });
  expect(changes).toEqual([{ path: "$.resources[?@.id=='a'].own", kind: 'changed', before: 1, after: 2 }]);
});
