import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JsonObject, parseJson } from '../protocol/json.ts';
import { verifyDocument } from '../protocol/signed-document.ts';
import { createAttributeChecker } from '../rules/typed-attributes.ts';
import { bundledSchemas, loadSchemas } from '../schemas/schema-files.ts';
import { readIndex } from './indexes.ts';
import { publishCatalogs } from './publish.ts';
import { readContent } from './read-content.ts';
import { openPublisherTree, type PublisherTree } from './tree.ts';

let directory: string;
let tree: PublisherTree;
let publicKey: KeyObject;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signpost-publisher-'));
  const keys = generateKeyPairSync('ed25519');
  publicKey = keys.publicKey;
  const checker = createAttributeChecker({ schemas: await loadSchemas(bundledSchemas) });
  tree = openPublisherTree({
    directory,
    baseUrl: 'https://files.example.org',
    nodeId: 'example.org',
    registryName: 'subscribers.beckn.one',
    key: { subscriberId: 'example.org', recordId: 'key-1', privateKey: keys.privateKey },
    schemas: { checker: () => checker },
    logger: pino({ level: 'silent' }),
  });
});

afterEach(() => rm(directory, { recursive: true }));

describe('a first publish', () => {
  it('writes a baseline and an index that verify', async () => {
    const answer = await publishCatalogs(tree, { message: { catalogs: [coffee] } });
    expect(answer).toEqual({
      status: 'COMPLETED',
      results: [{ catalogId: 'coffee', status: 'ACCEPTED', version: 1 }],
    });
    const index = parseJson(await readFile(join(tree.root, 'index/catalogs.index.json'))) as JsonObject;
    expect(verifyDocument(index, publicKey)).toBe('key-1');
    const { entries } = await readIndex(tree, 'catalogs');
    const entry = entries.get('coffee');
    const content = entry && (await readContent(tree, entry));
    expect(content?.resources.get('espresso')).toEqual(coffee.resources[0]);
  });
});

const coffee = {
  id: 'coffee',
  descriptor: { name: 'Coffee' },
  provider: { id: 'p1', descriptor: { name: 'A roaster' } },
  resources: [{ id: 'espresso', descriptor: { name: 'Espresso' } }],
};
