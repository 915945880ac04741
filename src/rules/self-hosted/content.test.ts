import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Resource } from '../../protocol/catalog.ts';
import type { FileDirective } from '../../protocol/signed-files.ts';
import {
  applyChangeFile,
  applyChangeFiles,
  type CatalogContent,
  type ChangeContent,
  catalogOf,
  contentOfBaseline,
  foldChanges,
} from './content.ts';

const members = {
  id: 'c',
  descriptor: { name: 'Catalog' },
  provider: { id: 'p', descriptor: { name: 'Provider' } },
};
const directive = (resourceId: string, masterResourceId = 'm'): FileDirective => ({
  resourceId,
  extends: { masterResourceId },
});
const baseline = {
  version: 3,
  catalog: { ...members, resources: [{ id: 'r1' }, { id: 'r2' }, { id: 'r3' }], offers: [{ id: 'o1' }] },
  directives: [directive('r1'), directive('r2')],
};

function change(fromVersion: number, parts: Partial<ChangeContent> = {}): ChangeContent {
  const nothing = { upserts: [], removals: [] };
  return { fromVersion, toVersion: fromVersion + 1, resources: nothing, offers: nothing, ...parts };
}
const upsert = (...upserts: Resource[]) => ({ upserts, removals: [] });
const remove = (...removals: string[]) => ({ upserts: [], removals });
const ids = ({ resources }: CatalogContent) => [...resources.keys()];

describe('a baseline', () => {
  it('is the whole catalog', () => {
    const content = contentOfBaseline(baseline);
    expect(catalogOf(content)).toEqual(baseline.catalog);
    expect(content.version).toBe(3);
    expect([...content.directives.keys()]).toEqual(['r1', 'r2']);
  });

  it('says nothing about a resource that it does not hold', () => {
    const content = contentOfBaseline({ ...baseline, directives: [directive('elsewhere')] });
    expect(content.directives.size).toBe(0);
  });
});

describe('a change file', () => {
  const content = contentOfBaseline(baseline);

  it('replaces whole objects in their place, adds new ones at the end and removes by id', () => {
    const after = applyChangeFile(
      content,
      change(3, { resources: { upserts: [{ id: 'r4' }, { id: 'r1', descriptor: {} }], removals: ['r2'] } }),
    );
    expect(catalogOf(after).resources).toEqual([{ id: 'r1', descriptor: {} }, { id: 'r3' }, { id: 'r4' }]);
    expect(after.version).toBe(4);
  });

  it('removes before it upserts', () => {
    const moved = { upserts: [{ id: 'r1' }], removals: ['r1'] };
    expect(ids(applyChangeFile(content, change(3, { resources: moved })))).toEqual(['r2', 'r3', 'r1']);
  });

  it('changes offers alike, and leaves out a list that has become empty', () => {
    const after = applyChangeFile(content, change(3, { offers: remove('o1') }));
    expect(catalogOf(after)).not.toHaveProperty('offers');
    expect(after.resources).toBe(content.resources);
  });

  it('overlays the catalog-level members that it gives', () => {
    const descriptor = { name: 'New name' };
    const after = applyChangeFile(content, change(3, { catalog: { descriptor, isActive: false } }));
    expect(after.members).toEqual({ ...members, descriptor, isActive: false });
  });

  it('takes the directive of an upserted resource that comes without one, and keeps those of the others', () => {
    const after = applyChangeFile(
      content,
      change(3, { resources: upsert({ id: 'r1' }, { id: 'r3' }), directives: [directive('r3', 'm2')] }),
    );
    expect([...after.directives.values()]).toEqual([directive('r2'), directive('r3', 'm2')]);
  });

  it('takes the directive of a removed resource', () => {
    const after = applyChangeFile(content, change(3, { resources: remove('r2') }));
    expect([...after.directives.keys()]).toEqual(['r1']);
  });

  it('fits exactly one version', () => {
    expect(() => applyChangeFile(content, change(2))).toThrow(RangeError);
    expect(() => applyChangeFile(content, change(4))).toThrow(RangeError);
    expect(() => foldChanges([change(3), change(5)])).toThrow(RangeError);
  });

  it('leaves what it was applied to as it was', () => {
    applyChangeFile(content, change(3, { resources: remove('r1', 'r2'), catalog: { isActive: false } }));
    expect(catalogOf(content)).toEqual(baseline.catalog);
  });
});

describe('a sequence of changes', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const item = fc.record({ id, descriptor: fc.record({ name: fc.string({ maxLength: 2 }) }) });
  const list = fc.record({
    upserts: fc.uniqueArray(item, { maxLength: 4, selector: (one) => one.id }),
    removals: fc.uniqueArray(id, { maxLength: 3 }),
  });
  const parts = fc.record({
    resources: list,
    offers: list,
    catalog: fc.option(fc.record({ isActive: fc.boolean() }), { nil: undefined }),
    directives: fc.uniqueArray(
      id.map((one) => directive(one)),
      { selector: (one) => one.resourceId },
    ),
  });
  const sequence = fc
    .array(parts, { maxLength: 8 })
    .map((all) => all.map((one, index) => change(3 + index, one)));
  const start = contentOfBaseline({
    version: 3,
    catalog: { ...members, resources: [{ id: 'a' }, { id: 'b' }] },
  });
  const plain = (content: CatalogContent) => [catalogOf(content), [...content.directives], content.version];

  it('folded into one patch does what they do one by one, the order included', () => {
    fc.assert(
      fc.property(sequence, (files) => {
        const oneByOne = files.reduce(applyChangeFile, start);
        const folded = applyChangeFiles(start, files);
        expect(plain(folded)).toEqual(plain(oneByOne));
        expect(ids(folded)).toEqual(ids(oneByOne));
      }),
    );
  });

  it('ends where a plain list, changed by the book, ends', () => {
    fc.assert(
      fc.property(sequence, (files) => {
        let book: Resource[] = [...start.resources.values()];
        for (const { resources } of files) {
          book = book.filter(({ id }) => !resources.removals.includes(id));
          for (const one of resources.upserts) {
            const index = book.findIndex(({ id }) => id === one.id);
            book = index === -1 ? [...book, one] : book.with(index, one);
          }
        }
        expect([...applyChangeFiles(start, files).resources.values()]).toEqual(book);
      }),
    );
  });
});
