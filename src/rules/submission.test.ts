import { describe, expect, it } from 'vitest';
import type { Catalog } from '../protocol/catalog.ts';
import { masterResourceIdsOf, resourceIdsOf, submissionsOf, variantsOf } from './submission.ts';

function catalog(id: string, resourceIds: string[] = []): Catalog {
  const resources = resourceIds.map((resourceId) => ({ id: resourceId }));
  return { id, descriptor: {}, provider: { id: 'p', descriptor: { name: 'P' } }, resources };
}

describe('submissionsOf', () => {
  it('takes MASTERs first, so that others of the same request can extend them, and remembers where each stands', () => {
    const submissions = submissionsOf(
      {
        catalogs: [catalog('regular'), catalog('master')],
        publishDirectives: [{ catalogId: 'master', catalogType: 'MASTER', updateMode: 'FULL' }],
      },
      'default/network',
    );
    expect(
      submissions.map(({ catalog: { id }, position, at, directiveAt }) => [id, position, at, directiveAt]),
    ).toEqual([
      ['master', 1, ['message', 'catalogs', 1], ['message', 'publishDirectives', 0]],
      ['regular', 0, ['message', 'catalogs', 0], undefined],
    ]);
  });
});

describe('what storage must know', () => {
  const extendsM = { extends: { masterResourceId: 'm' } };
  const [submission] = submissionsOf(
    {
      catalogs: [catalog('c', ['r1', 'r2', 'r3'])],
      publishDirectives: [
        {
          catalogId: 'c',
          catalogType: 'REGULAR',
          resourceDirectives: [
            { resourceId: 'r1', ...extendsM, variant: { type: 'geo', id: 'delhi' } },
            { resourceId: 'r2', ...extendsM },
          ],
        },
      ],
    },
    'default/network',
  );
  if (submission === undefined) throw new Error('there is one catalog');

  it('is about the resources, the variants claimed, and the masters given or kept', () => {
    const template = { id: 'n', catalogKey: 1, version: 1, edition: 1, bytes: 1 };
    const kept = new Map([['r3', { extension: { extends: { masterResourceId: 'n' } }, template }]]);
    expect(resourceIdsOf(submission)).toEqual(['r1', 'r2', 'r3']);
    expect(variantsOf(submission)).toEqual([
      { extends: { masterResourceId: 'm' }, variant: { type: 'geo', id: 'delhi' } },
    ]);
    expect(masterResourceIdsOf(submission, kept)).toEqual(['m', 'n']);
  });

  it('is about the own resources of a MASTER', () => {
    expect(masterResourceIdsOf({ ...submission, catalogType: 'MASTER' }, new Map())).toEqual([
      'r1',
      'r2',
      'r3',
    ]);
  });
});
