import { expect, it } from 'vitest';
import { coffee } from '../../tests/support/catalogs/masters.ts';
import { catalog } from '../../tests/support/catalogs/sample-catalogs.ts';
import { findConsiderationWarnings, findContextWarnings } from './publish-warnings.ts';
import type { Submission } from './submission.ts';

it('looks for unknown contexts without a look at geometries, which takes long', () => {
  const area = {
    type: 'Polygon',
    get coordinates(): never {
      throw new Error('this is a geometry');
    },
  };
  const submission = { catalog: catalog('c', { resources: [coffee('r', { area })] }), at: [] };
  const warnings = findContextWarnings(submission as unknown as Submission, { findClose: () => 'another' });
  expect(warnings).toHaveLength(1);
});

it('warns of each member of a consideration that nobody reads, once', () => {
  const priced = (id: string) => ({
    id,
    considerations: [
      { id: 'c', price: 5, currency: 'INR' },
      { id: 'd', status: { code: 'OPEN' } },
    ],
  });
  const submission = {
    catalog: catalog('c', { offers: [priced('one'), priced('two')] as never }),
    at: ['message', 'catalogs', 0],
  };
  const warnings = findConsiderationWarnings(submission as unknown as Submission);
  expect(warnings.map(({ details }) => details?.path)).toEqual([
    '$.message.catalogs[0].offers[0].considerations[0].price',
    '$.message.catalogs[0].offers[0].considerations[0].currency',
  ]);
  expect(warnings[0]?.message).toContain('put a price in considerationAttributes');
});
