import { expect, it } from 'vitest';
import { findKeys, type Reader } from './reader.ts';

it('asks the registry for a hundred keys of a document at most: who claims more has the others taken for unknown', async () => {
  const asked: string[] = [];
  const registry: Reader['registry'] = {
    findSubscriber: async () => [],
    async findKey(_node, recordId) {
      asked.push(recordId);
      return { kind: 'unusable', reason: 'it is revoked' };
    },
  };
  const names = Array.from({ length: 20_000 }, (_, index) => `key-${index}`);
  const node = { identity: 'node.example/registry', registryName: 'registry' };
  const found = await findKeys({ registry }, node, [...names, ...names, undefined]);
  expect(asked).toEqual(names.slice(0, 100));
  expect(found.size).toBe(20_000);
  expect(found.get('key-99')).toMatchObject({ kind: 'unusable' });
  expect(found.get('key-100')).toMatchObject({ kind: 'unknown-key' });
});
