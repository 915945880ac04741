import { describe, expect, it } from 'vitest';
import type { IndexEntry } from '../protocol/signed-files.ts';
import { findNodeProblems, findReadingProblems } from './warnings.ts';

const entry: IndexEntry = {
  catalogId: 'coffee',
  entryVersion: 1,
  catalogType: 'REGULAR',
  isActive: true,
  changes: [],
  signature: 's',
};

describe('a warning', () => {
  it('is not given for what every crawler reads', () => {
    const file = { path: 'p', bytes: Buffer.alloc(10 * 2 ** 20), unpackedBytes: 100 * 2 ** 20 };
    expect(findReadingProblems(entry, [file])).toEqual([]);
  });

  it('is given for a file that is too large to be fetched, or to be unpacked', () => {
    const large = { path: 'p', bytes: Buffer.alloc(10 * 2 ** 20 + 1), unpackedBytes: 1 };
    const inflating = { path: 'p', bytes: Buffer.alloc(1), unpackedBytes: 100 * 2 ** 20 + 1 };
    expect(findReadingProblems(entry, [large])).toEqual([expect.stringContaining('10 MiB')]);
    expect(findReadingProblems(entry, [inflating])).toEqual([expect.stringContaining('100 MiB')]);
  });

  it('is given for more changes or masters than are read', () => {
    const change = { version: 2, fromVersion: 1, toVersion: 2, url: 'https://x.example/c', digest: 'd' };
    const many = { ...entry, changes: Array(1001).fill(change) };
    expect(findReadingProblems(many, [])).toEqual([expect.stringContaining('1001 changes')]);
    const masters = Array.from({ length: 9 }, (_, index) => ({ catalogId: `m${index}` }));
    expect(findReadingProblems({ ...entry, dependencies: { masters } }, [])).toEqual([
      expect.stringContaining('9 master catalogs'),
    ]);
  });

  it('is given for more catalogs than are read of a node', () => {
    expect(findNodeProblems(20_000)).toEqual([]);
    expect(findNodeProblems(20_001)).toEqual([expect.stringContaining('20001 catalogs')]);
  });
});
