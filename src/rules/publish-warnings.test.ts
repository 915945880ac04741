import { expect, it } from 'vitest';
import { coffee } from '../../tests/support/catalogs/masters.ts';
import { catalog } from '../../tests/support/catalogs/sample-catalogs.ts';
import { findContextWarnings } from './publish-warnings.ts';
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
