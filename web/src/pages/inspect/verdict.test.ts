import { describe, expect, it } from 'vitest';
import type { ChainLink } from '../../../../src/console/answers/inspect.ts';
import { chainOf, explainVerdict, titleVerdict } from './verdict.ts';

const registry: ChainLink = { link: 'registry', state: 'ok', title: 'Registry', detail: 'is there' };
const files: ChainLink = {
  link: 'files',
  state: 'broken',
  title: 'Signed files',
  detail: 'The baseline does not have the digest sha256:aa.',
  expected: 'sha256:aa',
  got: 'sha256:bb',
  code: 'digest-mismatch',
  catalogId: 'east',
};
const publish: ChainLink = {
  link: 'publish',
  state: 'warning',
  title: 'Publish',
  detail: 'It ended PARTIAL.',
  catalogId: 'north',
};

describe('the title of a verdict', () => {
  const catalog = (catalogId: string, verdict: 'discoverable' | 'not') =>
    ({ catalogId, verdict, source: 'crawl' }) as const;

  it('counts the catalogs of a node that can be found, where that is not all of them', () => {
    const catalogs = [catalog('east', 'not'), catalog('west', 'discoverable')];
    expect(titleVerdict({ kind: 'node', verdict: 'warnings', catalogs })).toBe(
      '1 of 2 catalogs discoverable',
    );
    expect(titleVerdict({ kind: 'node', verdict: 'warnings', catalogs: catalogs.slice(1) })).toBe(
      'Discoverable, with warnings',
    );
    expect(titleVerdict({ kind: 'catalog', verdict: 'not', catalogs: [] })).toBe('Not discoverable');
  });
});

describe('the reason of a verdict', () => {
  it('names the catalog and the link, and leaves digests to the chain', () => {
    expect(explainVerdict([registry, publish, files], files.detail, { naming: true })).toBe(
      'The chain of east breaks at “Signed files” (digest-mismatch).',
    );
  });

  it('tells what the link says where nothing was compared', () => {
    expect(explainVerdict(chainOf([registry, publish, files], 'north'), 'It ended PARTIAL.')).toBe(
      'The chain is complete, with a warning at “Publish”: It ended PARTIAL.',
    );
  });

  it('is what the API says where the chain has no fault', () => {
    expect(explainVerdict([registry], undefined)).toBeUndefined();
  });
});
