import { createPublicKey, type KeyObject } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../src/protocol/json.ts';
import { verifyDocument } from '../../../src/protocol/signed-document.ts';
import { renewManifest } from '../../../src/publisher/keep-manifest.ts';
import { publishCatalogs } from '../../../src/publisher/publish.ts';
import { makeTree, servedFiles, type TestTree } from '../../support/hosted/published-tree.ts';
import { arbitraryChange } from '../../support/values/arbitrary-change.ts';

// The publisher's key protects every file that it writes: a file with a changed JSON value, or another spelling of its signature, is refused
// (self-hosted spec: Authentication).

for (const profile of ['spec', 'nfh014'] as const) {
  describe(`published files under the profile ${profile}`, () => {
    let tree: TestTree;
    let publicKey: KeyObject;
    let documents: JsonObject[];

    beforeAll(async () => {
      tree = await makeTree({ profile, limits: { compactionFraction: 9 } });
      publicKey = createPublicKey(tree.key.privateKey);
      documents = await publishSome(tree);
    });
    afterAll(() => tree.remove());

    it('verify: manifest and Subscriber record at both their places, index, entries, baselines, plain and gzipped, and change files', () => {
      expect(documents).toHaveLength(10);
      for (const document of documents) expect(verifyDocument(document, publicKey)).toBe('key-1');
    });

    it('are refused after any change of their JSON value', () => {
      // The large file is like the others once unpacked, but slow.
      const small = documents.filter(({ catalogId, catalog }) => !(catalogId === 'large' && catalog));
      for (const document of small) {
        fc.assert(
          fc.property(arbitraryChange(document), (changed) => {
            expect(() => verifyDocument(changed, publicKey)).toThrow();
          }),
          { numRuns: 50 },
        );
      }
    });

    it('are accepted in any order of their members, which is no change', () => {
      for (const document of documents)
        expect(verifyDocument(reversed(document) as JsonObject, publicKey)).toBe('key-1');
    });

    it('are refused with every other spelling of the same Base64', () => {
      for (const document of documents) {
        const respelled = otherSpellings(document);
        expect(respelled.length).toBeGreaterThan(3);
        for (const other of respelled) expect(() => verifyDocument(other, publicKey)).toThrow();
      }
    });
  });
}

async function publishSome(tree: TestTree): Promise<JsonObject[]> {
  const catalog = (id: string, count: number, name: string, length: number) => ({
    id,
    descriptor: { name },
    provider: { id: 'p', descriptor: { name: 'P' } },
    resources: Array.from({ length: count }, (_, index) => {
      return { id: `r${index}`, descriptor: { name: `${name} ${index}`, longDesc: '<é>'.repeat(length) } };
    }),
    offers: [{ id: 'o1', resourceIds: ['r1'] }],
  });
  await publishCatalogs(tree, {
    message: { catalogs: [catalog('small', 5, 'one', 100), catalog('large', 10, 'big', 30_000)] },
  });
  await publishCatalogs(tree, { message: { catalogs: [catalog('small', 4, 'two', 100)] } });
  await renewManifest(tree, { url: 'https://example.org' });
  const files = [...(await servedFiles(tree))].map(([path, bytes]) =>
    parseJson(path.endsWith('.gz') ? gunzipSync(bytes) : bytes),
  );
  const objects = files.filter(isJsonObject);
  const entries = objects.flatMap(({ catalogs }) =>
    Array.isArray(catalogs) ? catalogs.filter(isJsonObject) : [],
  );
  return [...objects, ...entries];
}

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

/** The document with other spellings of its signature that a lenient decoder accepts. */
function otherSpellings(document: JsonObject): JsonObject[] {
  const { signature, proof } = document;
  if (typeof signature === 'string')
    return spellingsOfJws(signature).map((text) => ({ ...document, signature: text }));
  if (isJsonObject(proof))
    return spellingsOfJws(String(proof.jws)).map((jws) => ({ ...document, proof: { ...proof, jws } }));
  if (!isJsonObject(signature)) throw new Error('there is no signature');
  const { value } = signature;
  // This form accepts either alphabet, padded or not, because deployed publishers mix them; stray bits are never accepted.
  const spellings = [...strayBits(String(value).replace('==', '')), ` ${value}`, `${value}\n`];
  return spellings.map((text) => ({ ...document, signature: { ...signature, value: text } }));
}

function spellingsOfJws(jws: string): string[] {
  const [header = '', , text = ''] = jws.split('.');
  return [
    ...[...strayBits(text), `${text}==`, ` ${text}`, `${text}\n`].map((spelling) => `${header}..${spelling}`),
    ...[`${header}=`, ` ${header}`, `${header}\n`].map((spelling) => `${spelling}..${text}`),
  ];
}

/** The last of 86 characters holds two bits of the 64 bytes and four that a lenient decoder drops. */
function strayBits(text: string): string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const bytes = Buffer.from(text, 'base64url');
  return [...alphabet]
    .map((last) => text.slice(0, -1) + last)
    .filter((other) => other !== text && Buffer.from(other, 'base64url').equals(bytes));
}
