import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  makeTree,
  newSigningKey,
  servedFiles,
  type TestTree,
} from '../../tests/support/hosted/published-tree.ts';
import {
  chargers,
  key,
  publish,
  verify,
  verifyJson,
  vouched,
} from '../../tests/support/hosted/verified-tree.ts';
import { publicKeyOf } from '../protocol/keys.ts';
import { signDocument } from '../protocol/signed-document.ts';
import type { CatalogIndex, IndexEntry } from '../protocol/signed-files.ts';
import { renewManifest } from '../publisher/keep-manifest.ts';
import { publishCatalogs } from '../publisher/publish.ts';

const url = 'https://files.example.org';
let tree: TestTree;
beforeEach(async () => {
  tree = await makeTree({ key });
  await publish(tree, chargers(20), chargers(2, 'other'));
  await publish(tree, chargers(21));
  await publish(tree, chargers(22));
  await publishCatalogs(tree, { retire: ['other'] });
  await renewManifest(tree, { url });
});
afterEach(() => tree.remove());

/** Changes an index, and signs its entries and the index again like the node. */
async function resign(change: (index: CatalogIndex) => void, name = 'catalogs'): Promise<CatalogIndex> {
  const file = join(tree.root, `index/${name}.index.json`);
  const index: CatalogIndex = JSON.parse(await readFile(file, 'utf8'));
  change(index);
  const catalogs = index.catalogs.map((entry) => signDocument(entry, key, 'spec'));
  const signed = signDocument({ ...index, catalogs }, key, 'spec');
  await writeFile(file, JSON.stringify(signed));
  return signed;
}

describe('signpost verify of a directory', () => {
  it('verifies every document of the chain, a line each, without a network', async () => {
    const { exitCode, out, notes } = await verify(tree);
    expect({ exitCode, notes }).toEqual({ exitCode: 0, notes: '' });
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => line.slice(0, 16).trimEnd())).toEqual([
      'ok    manifest',
      'ok    record',
      'ok    index',
      'ok    entry',
      'ok    baseline',
      'ok    change',
      'ok    change',
      'ok    catalog',
      'ok    entry',
      'ok    catalog',
      'Everything is va',
    ]);
    expect(out).toContain('chargers  version 3: 22 resources, 0 offers');
    expect(out).toContain('other  retired at 20');
    expect(out).toContain(
      'Everything is valid: 8 documents, 2 catalogs of example.org/subscribers.beckn.one.',
    );
  });

  it('verifies the files of the own publisher when none are named', async () => {
    const env = { PUBLISHER_DIR: tree.directory };
    expect((await verify(tree, [...vouched, '--quiet'], env)).out).toMatch(
      /^Everything is valid: 8 documents/,
    );
  });

  it('verifies a copy under any name, whatever base address it was published under', async () => {
    const copy = join(tree.directory, 'copy');
    await cp(tree.root, copy, { recursive: true });
    expect(await verifyJson(tree, [copy, ...vouched])).toMatchObject({ exitCode: 0, isHolding: true });
  });

  it('notices any change of any file that is listed', async () => {
    // Nothing lists subscriber.json: it is for readers of an older copy of the record; others follow the manifest.
    const isListed = (path: string) => path !== 'subscriber.json' && !path.startsWith('catalogs/other');
    const files = [...(await servedFiles(tree))].filter(([path]) => isListed(path));
    for (const [path, bytes] of files) {
      const text = path.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString();
      const changed = text.replace(/"(next_update|version|fromVersion)":\s*("20|\d)/, (found) =>
        found.endsWith('"20') ? found.replace('"20', '"21') : found.replace(/\d$/, '7'),
      );
      expect(changed, path).not.toBe(text);
      await writeFile(join(tree.root, path), path.endsWith('.gz') ? gzipSync(changed) : changed);
      const { exitCode, faults, warnings } = await verifyJson(tree);
      expect(faults.length + warnings.length, path).toBeGreaterThan(0);
      // The second place of the manifest is a copy, which readers of the first never fetch.
      expect(exitCode, path).toBe(path.endsWith('dedi.json') ? 0 : 1);
      await writeFile(join(tree.root, path), bytes);
    }
    expect(await verifyJson(tree)).toMatchObject({ exitCode: 0, warnings: [] });
  });

  it('names the first broken link and what to do about it', async () => {
    const [baseline = ''] = [...(await servedFiles(tree)).keys()].filter((path) =>
      /^catalogs\/chargers.*v1/.test(path),
    );
    await writeFile(join(tree.root, baseline), 'changed');
    const { exitCode, out } = await verify(tree);
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^FAULT baseline +chargers {2}https:.*does not have the digest sha256:/m);
    expect(out).toMatch(
      /First broken link: baseline chargers https:.*\n.*\(digest-mismatch\)\n {2}What to do: Upload/,
    );
    expect(out).toContain('1 fault. Valid: 7 documents, 1 catalog of example.org/subscribers.beckn.one.');
  });

  it.each([
    ['a file that is not there', /^catalogs\/changes\/.*v2/, 'file-missing', 'change'],
    ['a manifest that is not there', /^\.well-known\//, 'manifest-missing', 'manifest'],
    ['a record that is not there', /^subscriber\./, 'file-missing', 'record'],
    ['an index that is not there', /^index\//, 'file-missing', 'index'],
  ])('reports %s', async (_, pattern, code, document) => {
    const paths = [...(await servedFiles(tree)).keys()].filter((path) => pattern.test(path));
    for (const path of paths) await rm(join(tree.root, path));
    const { exitCode, faults } = await verifyJson(tree);
    expect(exitCode).toBe(1);
    expect(faults[0]).toMatchObject({ code, document, hint: expect.stringMatching(/\.$/) });
  });

  it('verifies the indexes of a directory also when the way to them is broken', async () => {
    for (const name of ['dedi.index.json', 'dedi.json']) await rm(join(tree.root, '.well-known', name));
    const { faults, holding } = await verifyJson(tree);
    expect(faults).toHaveLength(1);
    expect(holding).toEqual({ index: 1, entry: 2, baseline: 1, change: 2, catalog: 2 });
  });

  it('refuses keys that are not those of the node, and says so', async () => {
    const other = `key-1=${publicKeyOf(newSigningKey().privateKey)}`;
    expect((await verifyJson(tree, [tree.root, '--key', other])).faults[0]).toMatchObject({
      code: 'signature-invalid',
    });
    const unknown = `key-9=${publicKeyOf(key.privateKey)}`;
    const { faults } = await verifyJson(tree, [tree.root, '--key', unknown]);
    expect(faults[0]).toMatchObject({
      code: 'key-unknown',
      message: expect.stringContaining('no --key gives it'),
    });
    expect((await verifyJson(tree, [tree.root, ...vouched, '--node', 'another.org'])).exitCode).toBe(1);
  });

  it('warns of what has run out, and of an index that nothing leads to', async () => {
    await tree.remove();
    tree = await makeTree({ key, now: () => new Date('2020-01-01T00:00:00Z') });
    await publish(tree, chargers(1));
    await renewManifest(tree, { url });
    await publishCatalogs(tree, { message: { catalogs: [chargers(1, 'hidden')] } }, 'hidden');
    const { exitCode, warnings } = await verifyJson(tree);
    expect(exitCode).toBe(0);
    const codes = warnings.map(({ code, document }: Record<string, string>) => `${document} ${code}`);
    expect(codes).toEqual(['manifest stale', 'record stale', 'index index-unlisted', 'index stale']);
  });

  it.each<[string, (entry: IndexEntry) => void, object]>([
    [
      'a version that no file leads to',
      ({ changes }) => void changes.splice(0, 1),
      { faults: [{ document: 'catalog', code: 'gap' }] },
    ],
    [
      'a change of another catalog',
      (entry) => {
        entry.catalogId = 'others';
      },
      { faults: [{ code: 'catalog-mismatch' }, { code: 'catalog-mismatch' }, { code: 'catalog-mismatch' }] },
    ],
    [
      'a size that is not true',
      ({ baseline }) => {
        if (baseline) baseline.size += 1;
      },
      { faults: [], warnings: [{ document: 'baseline', code: 'size-mismatch' }] },
    ],
  ])('finds %s in what is rightly signed', async (_, change, found) => {
    await resign(({ catalogs }) => catalogs.filter(({ retiredAt }) => !retiredAt).forEach(change));
    expect(await verifyJson(tree)).toMatchObject(found);
  });

  it('finds a catalog that is listed twice, in one index or in two', async () => {
    await publishCatalogs(tree, { message: { catalogs: [chargers(1, 'third')] } }, 'second');
    await renewManifest(tree, { url });
    const { catalogs } = await resign(() => undefined);
    await resign((index) => index.catalogs.push(...catalogs.slice(0, 1)), 'second');
    expect(await verifyJson(tree)).toMatchObject({ exitCode: 0, warnings: [{ code: 'in-two-indexes' }] });
    await resign((index) => index.catalogs.push(...catalogs.slice(0, 1)), 'second');
    expect((await verifyJson(tree)).faults).toMatchObject([{ code: 'entry-twice' }, { code: 'entry-twice' }]);
  });

  it('says in a sentence what is wrong with its arguments', async () => {
    expect((await verify(tree, ['/nowhere', ...vouched])).notes).toContain(
      '/nowhere is not a published tree',
    );
    expect((await verify(tree, [tree.root, '--key', 'key-1=short'])).notes).toContain('--key key-1=short');
    expect((await verify(tree, [tree.root, '--key', `key-1=${'A'.repeat(43)}=`])).notes).toContain(
      'point of small order',
    );
    expect((await verify(tree, [tree.root, '--key', 'key.json'])).notes).toContain(
      '--key key.json is not recordId=publicKey',
    );
  });
});
