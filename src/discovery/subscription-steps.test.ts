import { describe, expect, it } from 'vitest';
import { feedsOf } from './subscription-steps.ts';

const registryName = 'subscribers.example';
const catalogUrl = 'https://catalog.example';

describe('the feeds that the settings ask for', () => {
  it('are one per service and network, in the order of the settings', () => {
    const settings = [
      { catalogUrl: `${catalogUrl}/`, catalogId: 'catalog.example', networkIds: ['a/x', 'b/y'] },
      { catalogUrl: 'https://other.example/base', networkIds: ['a/x'], schemaTypes: ['s'] },
    ];
    expect(feedsOf(settings, registryName)).toEqual([
      {
        catalogUrl,
        networkId: 'a/x',
        schemaTypes: [],
        service: 'catalog.example/subscribers.example',
        position: 0,
      },
      {
        catalogUrl,
        networkId: 'b/y',
        schemaTypes: [],
        service: 'catalog.example/subscribers.example',
        position: 1,
      },
      { catalogUrl: 'https://other.example/base', networkId: 'a/x', schemaTypes: ['s'], position: 2 },
    ]);
  });

  it('are one for every network where none is named', () => {
    expect(feedsOf([{ catalogUrl }, { catalogUrl, networkIds: [] }], registryName)).toEqual([
      { catalogUrl, networkId: '', schemaTypes: [], position: 0 },
    ]);
  });

  it('ask for the schema types of all entries for the same network, and for all types when one of them does', () => {
    const entry = (schemaTypes?: string[]) => ({ catalogUrl, networkIds: ['a/x'], schemaTypes });
    const typesOf = (...entries: ReturnType<typeof entry>[]) =>
      feedsOf(entries, registryName)[0]?.schemaTypes;
    expect(typesOf(entry(['s']), entry(['t', 's']))).toEqual(['s', 't']);
    expect(typesOf(entry(['s']), entry([]))).toEqual([]);
    expect(typesOf(entry(), entry(['s']))).toEqual([]);
  });
});
