import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coffee, publish, published } from '../../tests/support/catalogs/published-coffee.ts';
import {
  keysOf,
  makeTree,
  newSigningKey,
  readTree,
  type TestTree,
} from '../../tests/support/hosted/published-tree.ts';
import type { TriggerRequest } from '../protocol/trigger-messages.ts';
import { publishCatalogs } from './publish.ts';
import { refreshIndexes, resignEverything } from './renew-indexes.ts';

let tree: TestTree;
let now: Date;

beforeEach(async () => {
  now = new Date('2026-11-15T12:00:00.000Z');
  tree = await makeTree({ now: () => now });
});
afterEach(() => tree.remove());

describe('another key', () => {
  it('signs what is new; what was published before stays as it is', async () => {
    const first = tree.key;
    await publish(tree, coffee(30));
    tree = { ...tree, key: newSigningKey('key-2') };
    await publish(tree, coffee(31));
    await publish(tree, { ...coffee(1), id: 'tea' });
    const read = await readTree(tree, { keys: keysOf(first, tree.key) });
    expect(read.get('coffee')?.held?.content.resources.size).toBe(31);
    await expect(readTree(tree)).rejects.toThrow('key-1');
  });

  it('signs everything anew after the one before was compromised', async () => {
    for (const size of [30, 31, 32]) await publish(tree, coffee(size));
    await publish(tree, { ...coffee(1), id: 'tea' });
    await ask({ retire: ['tea'] });
    tree = { ...tree, key: newSigningKey('key-2') };
    const { results } = await resignEverything(tree);
    expect(results).toEqual([
      { catalogId: 'coffee', status: 'ACCEPTED', version: 3 },
      { catalogId: 'tea', status: 'ACCEPTED' },
    ]);
    const read = await readTree(tree);
    expect(read.get('coffee')?.entry).toMatchObject({
      entryVersion: 4,
      baseline: { version: 3 },
      changes: [],
    });
    expect(read.get('tea')?.entry).toMatchObject({ entryVersion: 3, retiredAt: now.toISOString() });
  });
});

describe('another base address', () => {
  it('is what the entries name from the next refresh on', async () => {
    for (const size of [30, 31]) await publish(tree, coffee(size));
    tree = { ...tree, baseUrl: 'https://cdn.example.org/' };
    await refreshIndexes(tree);
    tree = { ...tree, baseUrl: 'https://cdn.example.org' };
    expect((await published(tree, 'coffee')).held?.content.resources.size).toBe(31);
  });

  it('is also where those who extend a master resource are sent for its index', async () => {
    const directives = (catalogId: string, masterResourceId: string) => {
      return [
        { catalogId: 'masters', catalogType: 'MASTER' as const },
        {
          catalogId,
          catalogType: 'REGULAR' as const,
          resourceDirectives: [{ resourceId: 'r0', extends: { masterResourceId } }],
        },
      ];
    };
    const masters = { ...coffee(0), id: 'masters', resources: [{ id: 'm0' }] };
    await publishCatalogs(tree, {
      message: { catalogs: [masters, coffee(1)], publishDirectives: directives('coffee', 'm0') },
    });
    tree = { ...tree, baseUrl: 'https://cdn.example.org' };
    await refreshIndexes(tree);
    expect((await published(tree, 'coffee')).entry.dependencies?.masters).toEqual([
      { catalogId: 'masters', version: 1, indexUrl: 'https://cdn.example.org/index/catalogs.index.json' },
    ]);
  });
});

async function ask(request: TriggerRequest) {
  const { results } = await publishCatalogs(tree, request);
  return results[0];
}
