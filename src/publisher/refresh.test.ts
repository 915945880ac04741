import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { makeTree, newSigningKey, type TestTree } from '../../tests/support/hosted/published-tree.ts';
import { parsePublicKey, publicKeyOf } from '../protocol/keys.ts';
import { readIndexes } from './indexes.ts';
import { publish } from './publisher.ts';
import { refreshDue } from './refresh.ts';

const url = 'https://example.org';
let tree: TestTree;
afterEach(() => tree.remove());

describe('a renewal without anybody who watches', () => {
  it('logs that an earlier key can go, once nothing is signed with it any more', async () => {
    const lines: { key?: string; msg: string }[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    let now = new Date('2026-11-15T12:00:00.000Z');
    tree = await makeTree({ logger, now: () => now });
    await publish({ tree, url }, { message: { catalogs: [coffee] } });
    const oldKeys = new Map([['key-1', parsePublicKey(publicKeyOf(tree.key.privateKey))]]);
    tree = { ...tree, key: newSigningKey('key-2'), oldKeys };
    const renewLater = async () => {
      now = new Date(now.getTime() + 13 * 3_600_000);
      await refreshDue({ tree, url });
    };
    await renewLater();
    expect(lines).toEqual([]);
    await publish({ tree, url }, { forceBaseline: true });
    await renewLater();
    expect(lines).toMatchObject([{ key: 'key-1', msg: expect.stringContaining('it can be revoked') }]);
  });
});

describe('what is due', () => {
  it('is everything, once the files have got another base address', async () => {
    tree = await makeTree();
    await publish({ tree, url }, { message: { catalogs: [coffee] } });
    await publish({ tree, url }, { message: { catalogs: [{ ...coffee, resources: [{ id: 'mocha' }] }] } });
    tree = { ...tree, baseUrl: 'https://files.example.org' };
    await refreshDue({ tree, url });
    const entry = (await readIndexes(tree)).get('catalogs')?.entries.get('coffee');
    expect(entry?.entryVersion).toBe(3);
    const links = [entry?.baseline, ...(entry?.changes ?? [])].map((file) => file?.url);
    expect(links).toHaveLength(2);
    for (const link of links) expect(link).toMatch(/^https:\/\/files\.example\.org\/catalogs\//);
  });

  it('is what a clock has announced that was years ahead', async () => {
    const today = new Date('2026-11-15T12:00:00.000Z');
    let now = new Date('2036-11-15T12:00:00.000Z');
    tree = await makeTree({ now: () => now });
    await publish({ tree, url }, { message: { catalogs: [coffee] } });
    now = today;
    expect(await refreshDue({ tree, url })).toEqual(new Date('2026-11-16T12:00:00.000Z'));
    expect((await readIndexes(tree)).get('catalogs')?.nextUpdate).toBe('2026-11-16T12:00:00.000Z');
  });
});

const coffee = {
  id: 'coffee',
  descriptor: { name: 'Coffee' },
  provider: { id: 'p1', descriptor: { name: 'A roaster' } },
  resources: [{ id: 'espresso' }],
};
