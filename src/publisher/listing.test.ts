import { createPublicKey } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateSeed, privateKeyFromSeed } from '../protocol/keys.ts';
import type { KeyLookup, ParticipantRecord } from '../protocol/registry-record.ts';
import type { TriggerAnswer } from '../protocol/trigger-messages.ts';
import { RegistryUnavailable } from '../registry/client.ts';
import { withListingProblems } from './listing.ts';

const baseUrl = 'https://files.example';
const key = {
  subscriberId: 'bpp.example',
  recordId: 'key-1',
  privateKey: privateKeyFromSeed(generateSeed()),
};
const publicKey = createPublicKey(key.privateKey);
const answer: TriggerAnswer = { status: 'COMPLETED', results: [] };
let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'signpost-listing-'));
  await mkdir(join(root, 'index'));
  for (const name of ['catalogs', 'second']) await writeFile(join(root, `index/${name}.index.json`), '{}');
});
afterAll(() => rm(root, { recursive: true }));

function record(catalogIndexUrls: string[]): ParticipantRecord {
  return {
    recordId: 'key-1',
    subscriberId: 'bpp.example',
    networkMemberships: [],
    catalogIndexUrls,
    state: 'live',
  };
}

const both = ['catalogs', 'second'].map((name) => `${baseUrl}/index/${name}.index.json`);

async function warningsFor(lookup: KeyLookup | Error): Promise<string[] | undefined> {
  const findKey = async () => {
    if (lookup instanceof Error) throw lookup;
    return lookup;
  };
  return (await withListingProblems(answer, { root, baseUrl, key }, { findKey })).warnings;
}

describe('an answer of the trigger', () => {
  it('has no warning when the registry knows the key and lists every index', async () => {
    expect(await warningsFor({ kind: 'key', publicKey, record: record(both) })).toBeUndefined();
  });

  it('says that crawlers find an unlisted index by the manifest, where the registered address leads there', async () => {
    const lookup = {
      kind: 'key',
      publicKey,
      record: { ...record([]), url: 'https://bpp.example/beckn' },
    } as const;
    const told = async (url: string) =>
      (await withListingProblems(answer, { root, baseUrl, key, url }, { findKey: async () => lookup }))
        .warnings;
    expect(await told('https://bpp.example')).toEqual(
      both.map((index) =>
        expect.stringContaining(`${index} in meta.catalog_index_urls: only crawlers that read`),
      ),
    );
    expect(await told('https://elsewhere.example')).toEqual(
      both.map(() => expect.stringContaining('no crawler will find it')),
    );
  });

  it('has none when nothing is published yet', async () => {
    const findKey = () => Promise.reject(new RegistryUnavailable('down'));
    const empty = { root: join(root, 'nowhere'), baseUrl, key };
    expect(await withListingProblems(answer, empty, { findKey })).toEqual(answer);
  });

  it.each<[string, KeyLookup | Error, RegExp]>([
    [
      'one index is not listed',
      { kind: 'key', publicKey, record: record(both.slice(0, 1)) },
      /does not list \S+second/,
    ],
    [
      'the registry has a different public key',
      { kind: 'key', publicKey: createPublicKey(privateKeyFromSeed(generateSeed())), record: record(both) },
      /has a different public key/,
    ],
    ['the key is revoked', { kind: 'unusable', reason: 'the key is in state revoked' }, /in state revoked/],
    ['the key is not registered', { kind: 'unknown-key' }, /the registry does not know it/],
    ['the node is not registered', { kind: 'unknown-subscriber' }, /does not know bpp\.example/],
    ['the registry cannot be queried', new RegistryUnavailable('down'), /not known whether/],
  ])('has one when %s', async (_when, lookup, told) => {
    expect(await warningsFor(lookup)).toEqual([expect.stringMatching(told)]);
  });
});
