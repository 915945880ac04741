import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerKeysCommand } from '../../../src/cli/keys.ts';
import { register as registerPublishCommand } from '../../../src/cli/publish.ts';
import { register as registerRefreshCommand } from '../../../src/cli/refresh.ts';
import { generateSeed } from '../../../src/protocol/keys.ts';
import { claimedKeyOf, verifyDocument } from '../../../src/protocol/signed-document.ts';
import { registerParticipant, setKeyState } from '../../../src/storage/registry/participants.ts';
import {
  defaultIndex,
  fetchFile,
  publisherSettings,
  smallCatalog,
  trigger,
} from '../../support/hosted/publisher.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { runCommand } from '../../support/processes/command.ts';

// A running publisher changes to a new key, and at every moment all published files can be verified with the registry's keys.

const manifestPath = '.well-known/dedi.index.json';

let network: TestNetwork;
let settings: Record<string, string>;

beforeAll(async () => {
  network = await startNetwork({
    settings: { ROLES: 'registry,publisher', LOG_LEVEL: 'silent', COMPACTION_FRACTION: '100' },
  });
  const { config, databaseUrl } = network;
  settings = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: config.DATA_DIR,
    REGISTRY_PORT: String(config.REGISTRY_PORT),
    PUBLISHER_PORT: String(config.PUBLISHER_PORT),
    PUBLISHER_TRIGGER_PORT: String(config.PUBLISHER_TRIGGER_PORT),
  };
  const catalogs = [smallCatalog('coffee'), smallCatalog('tea')];
  await trigger(config, { message: { catalogs } });
});
afterAll(() => network.close());

const rotate = (args: string[] = [], env = settings) =>
  runCommand(registerKeysCommand, ['keys', 'rotate', ...args], env);

/** Verifies all listed files with the registry's keys, and returns the keys in use: by the documents, and by the catalogs. */
async function keysInUse(): Promise<{ documents: Set<string>; catalogs: Record<string, string[]> }> {
  const { config, registry } = network;
  const verify = async (document: Parameters<typeof claimedKeyOf>[0]) => {
    const found = await registry.findKey(config.identities.publisher.id, claimedKeyOf(document));
    if (found.kind !== 'key') throw new Error(`${claimedKeyOf(document)}: ${found.kind}`);
    return verifyDocument(document, found.publicKey);
  };
  const { body: manifest } = await fetchFile(config, manifestPath);
  const { body: record } = await fetchFile(config, manifest.files[0].url);
  const { body: index } = await fetchFile(config, defaultIndex);
  const documents = new Set(await Promise.all([manifest, record, index].map(verify)));
  const catalogs: Record<string, string[]> = {};
  for (const entry of index.catalogs) {
    const files = [entry.baseline, ...entry.changes].map(({ url }) => fetchFile(config, url));
    const bodies = (await Promise.all(files)).map(({ body }) => body);
    catalogs[entry.catalogId] = await Promise.all([entry, ...bodies].map(verify));
  }
  return { documents, catalogs };
}

async function listedKeys(): Promise<string[]> {
  const { body } = await fetchFile(network.config, manifestPath);
  return body.keys.map(({ kid }: { kid: string }) => kid);
}

describe('key rotation', () => {
  it('registers a new key, signs with it from then on, and keeps the old one listed while it is needed', async () => {
    const run = await rotate();
    expect(run.exitCode).toBe(0);
    expect(run.out).toContain('publisher.signpost.test signs with key-2 from now on.');
    expect(run.out).toContain(
      'key-1 must stay registered: listed files of 2 catalogs are signed with it (coffee, tea).',
    );
    expect(await listedKeys()).toEqual(['key-2', 'key-1']);
    expect(await keysInUse()).toEqual({
      documents: new Set(['key-2']),
      catalogs: { coffee: ['key-1', 'key-1'], tea: ['key-1', 'key-1'] },
    });
  });

  it('is taken up by the publisher that runs: what it publishes is signed with the new key', async () => {
    await trigger(network.config, { message: { catalogs: [smallCatalog('coffee', ['espresso', 'lungo'])] } });
    expect((await keysInUse()).catalogs).toEqual({
      coffee: ['key-2', 'key-1', 'key-2'],
      tea: ['key-1', 'key-1'],
    });
  });

  it('tells when nothing is signed with the old key any more', async () => {
    await trigger(network.config, { forceBaseline: true });
    const run = await runCommand(registerRefreshCommand, ['refresh'], settings);
    // The change file of coffee stays listed for one more cycle, but it is signed with the new key.
    expect(run.out).toContain('No listed file is signed with key-1 any more. It can be revoked on 20');
    expect(run.out).toContain('signpost registry revoke publisher.signpost.test --key-id key-1');
    expect(await listedKeys()).toEqual(['key-2']);
  });

  it('after a compromise signs everything anew at once: the old key can be revoked', async () => {
    const before = await fetchFile(network.config, defaultIndex);
    const run = await rotate(['--resign', '--key-id', 'emergency']);
    expect(run).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^coffee +ACCEPTED +version 2$/m) });
    const participant = { namespace: 'publisher.signpost.test', registryName: network.config.REGISTRY_NAME };
    await setKeyState(network.database, participant, 'revoked', 'key-2');
    expect(await listedKeys()).toEqual(['emergency']);
    expect(await keysInUse()).toEqual({
      documents: new Set(['emergency']),
      catalogs: { coffee: ['emergency', 'emergency'], tea: ['emergency', 'emergency'] },
    });
    const after = await fetchFile(network.config, defaultIndex);
    for (const [index, entry] of after.body.catalogs.entries())
      expect(entry.entryVersion).toBe(before.body.catalogs[index].entryVersion + 1);
  });

  it('refuses the key that is in use already', async () => {
    const run = await rotate(['--key-id', 'emergency']);
    expect(run).toMatchObject({ exitCode: 1, notes: expect.stringContaining('is already in use') });
  });
});

describe('key rotation with a registry of somebody else', () => {
  let directory: string;
  let own: Record<string, string>;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'signpost-rotate-'));
    own = {
      ...(await publisherSettings(directory)),
      REGISTRY_URL: network.config.registryUrl,
      PUBLISHER_ID: 'other.example',
    };
    writeFileSync(join(directory, 'coffee.json'), JSON.stringify(smallCatalog('coffee')));
    await runCommand(registerPublishCommand, ['publish', join(directory, 'coffee.json')], own);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('says what to register, goes on signing with the old key, and changes once the new one is there', async () => {
    const first = await rotate([], own);
    expect(first.exitCode).toBe(1);
    expect(first.out).toMatch(/^ {2}subscriber_id +other\.example$/m);
    const publicKey = /signing_public_key +(\S+)/.exec(first.out)?.[1] ?? '';
    expect((await runCommand(registerRefreshCommand, ['refresh'], own)).out).toContain('Signed with key-1;');

    await registerParticipant(network.database, {
      namespace: 'other.example',
      registryName: network.config.REGISTRY_NAME,
      subscriberId: 'other.example',
      key: { recordId: 'key-2', publicKey },
    });
    const second = await rotate([], own);
    expect(second).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('signs with key-2 from now on'),
    });
    const resigned = await runCommand(registerRefreshCommand, ['refresh', '--resign'], own);
    expect(resigned.out).toContain('Signed with key-2;');
    expect(resigned.out).toContain(`have the record key-1 of other.example revoked at ${own.REGISTRY_URL}.`);
  });

  it('says so when that registry cannot be queried, and changes nothing', async () => {
    const run = await rotate([], { ...own, REGISTRY_URL: 'http://127.0.0.1:1/dedi' });
    expect(run).toMatchObject({ exitCode: 1, notes: expect.stringContaining('cannot be queried') });
    expect((await runCommand(registerRefreshCommand, ['refresh'], own)).out).toContain('Signed with key-2;');
  });

  it('leaves a key that stands in the settings to whoever wrote them', async () => {
    const run = await rotate([], { ...own, PUBLISHER_PRIVATE_KEY: generateSeed() });
    expect(run).toMatchObject({ exitCode: 1, notes: expect.stringContaining('PUBLISHER_PRIVATE_KEY') });
  });
});
