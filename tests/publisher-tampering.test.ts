import { createPublicKey, type KeyObject } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../src/protocol/json.ts';
import { verifyDocument, type WireProfile } from '../src/protocol/signed-document.ts';
import { publishCatalogs } from '../src/publisher/publish.ts';
import { isSameValue } from '../src/rules/same-value.ts';
import { makeTree, servedFiles, type TestTree } from './support/published-tree.ts';

// Every file that the publisher writes is bound to its key: whoever changes its JSON value, or writes its signature in another way, is refused
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

    it('verify: index, entries, baselines, plain and gzipped, and change files', () => {
      expect(documents).toHaveLength(6);
      for (const document of documents) expect(verifyDocument(document, publicKey)).toBe('key-1');
    });

    it('are refused after any change of their JSON value', () => {
      // The large one is like the others once it is unpacked, but takes its time.
      const small = documents.filter(({ catalogId, catalog }) => !(catalogId === 'large' && catalog));
      fc.assert(
        fc.property(fc.nat(), fc.infiniteStream(fc.nat()), fc.jsonValue(), (pick, choices, value) => {
          const document = small[pick % small.length] as JsonObject;
          const { signature, ...content } = document;
          const changed = changedSomewhere(content, choices, value as Json) as JsonObject;
          fc.pre(
            !isSameValue(changed, content) && changed.signature === undefined && changed.proof === undefined,
          );
          expect(() => verifyDocument({ ...changed, signature: signature as Json }, publicKey)).toThrow();
        }),
        { numRuns: 300 },
      );
    });

    it('are accepted in any order of their members, which is no change', () => {
      for (const document of documents)
        expect(verifyDocument(reversed(document) as JsonObject, publicKey)).toBe('key-1');
    });

    it('are refused with every other spelling of the same Base64', () => {
      for (const document of documents) {
        const spellings = otherSpellings(document.signature as Json, profile);
        expect(spellings.length).toBeGreaterThan(3);
        for (const signature of spellings) {
          expect(
            () => verifyDocument({ ...document, signature }, publicKey),
            JSON.stringify(signature),
          ).toThrow();
        }
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
  const files = [...(await servedFiles(tree))].map(([path, bytes]) =>
    parseJson(path.endsWith('.gz') ? gunzipSync(bytes) : bytes),
  );
  const objects = files.filter(isJsonObject);
  const entries = objects.flatMap(({ catalogs }) =>
    Array.isArray(catalogs) ? catalogs.filter(isJsonObject) : [],
  );
  return [...objects, ...entries];
}

/** Walks into the document by the choices, and there changes, adds, removes or renames something. */
function changedSomewhere(value: Json, choices: Iterator<number>, other: Json): Json {
  const choose = (count: number) => (choices.next().value ?? 0) % count;
  if (Array.isArray(value)) {
    if (value.length === 0 || choose(8) === 0)
      return value.toSpliced(choose(value.length + 1), choose(2), other);
    const place = choose(value.length);
    return value.with(place, changedSomewhere(value[place] as Json, choices, other));
  }
  if (!isJsonObject(value)) return other;
  const names = Object.keys(value);
  const name = names[choose(names.length)];
  if (name === undefined) return { added: other };
  const { [name]: member, ...rest } = value;
  switch (choose(8)) {
    case 0:
      return rest;
    case 1:
      return { ...rest, [`${name}x`]: member as Json };
    case 2:
      return { ...value, added: other };
    default:
      return { ...value, [name]: changedSomewhere(member as Json, choices, other) };
  }
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

/** Texts that a lenient decoder turns into the same bytes. */
function otherSpellings(signature: Json, profile: WireProfile): Json[] {
  if (profile === 'nfh014') {
    if (!isJsonObject(signature)) throw new Error('the signature is no object');
    const { value, ...rest } = signature;
    // This form is read in either alphabet, padded or not, because deployed publishers mix them; stray bits never pass.
    return [...strayBits(String(value).replace('==', '')), ` ${value}`, `${value}\n`].map((text) => ({
      ...rest,
      value: text,
    }));
  }
  const [header = '', , text = ''] = String(signature).split('.');
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
