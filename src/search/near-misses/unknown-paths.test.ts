import { describe, expect, it } from 'vitest';
import { findClosePaths } from './unknown-paths.ts';

const resource = '$.catalogs[*].resources[*]';
const known = [
  '$.catalogs[*].provider.availableAt[*].geo',
  `${resource}.id`,
  `${resource}.descriptor.name`,
  `${resource}.resourceAttributes.attributes.connectorType`,
  `${resource}.resourceAttributes.attributes.connectorCount`,
  `${resource}.resourceAttributes.attributes.ratedPower.value`,
  `${resource}.resourceAttributes.attributes.ratedPower.unit`,
];

describe('the known paths that are closest to one that nothing stands at', () => {
  it.each([
    ['a letter in another case', `${resource}.resourceAttributes.attributes.connectortype`, known[3]],
    ['a typing error', `${resource}.resourceAttributes.attributes.conectorType`, known[3]],
    ['a level too high', `${resource}.connectorType`, known[3]],
    ['a level too low', `${resource}[*].id`, known[1]],
    ['another root', '$.provider.availableAt[*].geo', known[0]],
    ['a level that is missing', '$.catalogs[*].provider.availableAt.geo', known[0]],
  ])('with %s', (_, asked, closest) => {
    expect(findClosePaths(asked, known, 3)[0]).toBe(closest);
  });

  it('are no more than asked for, also where nothing is alike', () => {
    expect(findClosePaths('$.x', known, 3)).toHaveLength(3);
    expect(findClosePaths('$', [], 3)).toEqual([]);
  });
});
