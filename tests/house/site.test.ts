import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { apiDocuments, sections } from '../../site/pages.ts';
import { documents } from '../docs/blocks.ts';

// Checks the documentation site without building it; `npm run test:docs` builds it.

describe('the sidebar of the documentation site', () => {
  it('has every document of the project once', () => {
    const listed = sections.flatMap(({ pages }) => Object.keys(pages));
    expect(listed.toSorted()).toEqual(documents.toSorted());
  });

  it('has every API document of docs/api', () => {
    const text = readFileSync('docs/api/README.md', 'utf8');
    const named = [...text.matchAll(/`(\w+)\.openapi\.json`/g)].map(([, name = '']) => name);
    expect(Object.keys(apiDocuments).toSorted()).toEqual([...new Set(named)].toSorted());
  });
});
