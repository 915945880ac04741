import { expect, it } from 'vitest';
import { star } from '../../../tests/support/values/costly-geometries.ts';
import { entriesOfDocument } from './document-entries.ts';
import { indexFormats, newestOf } from './index-format.ts';

it.each([
  ['are left out of the index where they are too costly', false],
  ['are indexed without another look where they were checked before', true],
])('the geometries of a document %s', (_, areGeometriesChecked) => {
  const document = { id: 'r', area: star(101) };
  const entries = entriesOfDocument(newestOf(indexFormats), 'resource', document, { areGeometriesChecked });
  const path = '$.catalogs[*].resources[*].area';
  expect(entries.geometries.map((found) => found.path)).toEqual(areGeometriesChecked ? [path] : []);
  expect(entries.unindexed).toEqual(areGeometriesChecked ? [] : [path]);
});
