import { sign } from 'node:crypto';
import { canonicalJson } from '../../src/protocol/canonical-json.ts';
import { signJws } from '../../src/protocol/detached-jws.ts';
import { sha256Digest } from '../../src/protocol/digest.ts';
import { type Json, type JsonObject, parseJson } from '../../src/protocol/json.ts';
import { signDocument } from '../../src/protocol/signed-document.ts';
import { publish } from '../../src/publisher/publisher.ts';
import { makeTree, servedFiles } from '../support/hosted/published-tree.ts';
import { keyOf } from './keys.ts';
import { malformedSignatures } from './malformed-signatures.ts';
import { now } from './signed-requests.ts';

// vectors/signed-files.json: a published tree, made by the publisher, and documents that a crawler accepts or refuses.

const key = keyOf('publisher');
const baseUrl = 'https://files.example.com';

export async function signedFileVectors() {
  const tree = await publishTree();
  const index = tree.get('index/catalogs.index.json') ?? '';
  const entries: JsonObject[] = JSON.parse(index).catalogs;
  const [entry = {}, retired = {}] = entries;
  const find = (start: string) => [...tree.keys()].find((path) => path.startsWith(start)) ?? '';
  const file = (name: string, kind: string, path: string) =>
    describeFile(name, kind, path, tree.get(path) ?? '');
  return {
    about:
      'A published tree (`sign`), whose files lead from one to the next: manifest, record, index with its entries, baseline, change. `canonical` is RFC 8785 of `unsigned`; the signature is Ed25519 over base64url(`protectedHeader`) + "." + `canonical`. `bytes` is the file as it is served. `accept` and `refuse`: other documents, with what a crawler says of them.',
    node: { id: 'files.example.com', identity: 'files.example.com/subscribers.beckn.one', key: 'publisher' },
    sign: [
      file('the manifest', 'manifest', '.well-known/dedi.index.json'),
      file('the Subscriber record', 'record', find('subscriber.')),
      file('the index', 'index', 'index/catalogs.index.json'),
      describeDocument('an entry of the index', 'entry', entry),
      describeDocument('a retired entry of the index', 'entry', retired),
      file('a baseline', 'baseline', find('catalogs/coffee-house')),
      file('a change file', 'change', find('catalogs/changes/coffee-house')),
    ],
    accept: accepted(entry),
    refuse: refused(entry),
  };
}

/** Served files by their path. */
async function publishTree(): Promise<Map<string, string>> {
  const tree = await makeTree({
    ...{ baseUrl, nodeId: 'files.example.com', key, now: () => now },
    limits: { compactionFraction: 10 },
  });
  const publisher = { tree, url: baseUrl, countries: ['IND'] };
  try {
    await publish(publisher, { message: { catalogs: [coffeeHouse('Café ☕ & <Crème>'), closedShop] } });
    await publish(publisher, {
      message: { catalogs: [coffeeHouse('Café & Crème 😀')] },
      retire: ['closed-shop'],
    });
    return new Map([...(await servedFiles(tree))].map(([path, bytes]) => [path, bytes.toString('utf8')]));
  } finally {
    await tree.remove();
  }
}

const provider = { id: 'p1', descriptor: { name: 'A roaster' } };

function coffeeHouse(name: string) {
  return {
    id: 'coffee-house',
    descriptor: { name: 'Coffee House' },
    provider,
    resources: [
      { id: 'espresso', descriptor: { name: 'Espresso' } },
      { id: 'cream', descriptor: { name } },
    ],
    offers: [{ id: 'morning', descriptor: { name: 'Until ten' }, resourceIds: ['espresso'] }],
  };
}

const closedShop = {
  id: 'closed-shop',
  descriptor: { name: 'Closed Shop' },
  provider,
  resources: [{ id: 'tea', descriptor: { name: 'Tea' } }],
};

interface SignedVector {
  name: string;
  kind: string;
  key: string;
  unsigned: JsonObject;
  canonical: string;
  protectedHeader: string;
  signature?: string;
  proof?: Json;
  /** Address of a file; an entry is in the index. */
  url?: string;
  size?: number;
  digest?: string;
  bytes?: string;
}

function describeFile(name: string, kind: string, path: string, bytes: string): SignedVector {
  const served = Buffer.from(bytes);
  return {
    ...describeDocument(name, kind, parseJson(served) as JsonObject),
    ...{ url: `${baseUrl}/${path}`, size: served.length, digest: sha256Digest(served), bytes },
  };
}

function describeDocument(name: string, kind: string, document: JsonObject): SignedVector {
  const { signature, proof, ...unsigned } = document;
  const jws = String(typeof signature === 'string' ? signature : (proof as JsonObject).jws);
  const [header = ''] = jws.split('.');
  return {
    ...{ name, kind, key: 'publisher', unsigned, canonical: canonicalJson(unsigned) },
    protectedHeader: Buffer.from(header, 'base64url').toString(),
    ...(proof === undefined ? { signature: jws } : { proof }),
  };
}

const special = { catalogId: 'tea & <scones>', '\u{1f600}': 1, '\ufb33': 2 };

function accepted(entry: JsonObject) {
  const { signature: _, ...content } = entry;
  const bare = sign(null, Buffer.from(canonicalJson(content)), key.privateKey);
  const object = (keyId: string, value: string) => ({ ...content, signature: { keyId, value } });
  return [
    {
      ...{ name: 'an object signature in Base64', document: object('key-1', bare.toString('base64')) },
      reason: 'Deployed publishers write the bare Ed25519 signature of the canonical form.',
    },
    {
      ...{ name: 'an object signature in base64url', document: object('key-1', bare.toString('base64url')) },
      reason: 'Either alphabet is read, with and without padding.',
    },
    {
      name: 'an object signature whose keyId is written as in requests',
      document: object('files.example.com|key-1|ed25519', bare.toString('base64')),
      reason: 'The first part must be the node itself.',
    },
    {
      name: "an object signature over the form of Go's encoder",
      document: JSON.parse(JSON.stringify(signDocument(special, key, 'nfh014'))),
      reason: 'One deployed publisher signs it; see `go` in canonical-json.json.',
    },
    {
      ...{ name: 'members in another order', document: Object.fromEntries(Object.entries(entry).reverse()) },
      reason: 'The canonical form is the same.',
    },
    {
      name: 'the members of the protected header in another order',
      document: {
        ...content,
        signature: signedUnder('{ "kid": "key-1", "crit": ["b64"], "b64": false, "alg": "EdDSA" }', content),
      },
      reason: 'The header is verified as it was received.',
    },
  ].map(({ name, document, reason }) => ({ name, kind: 'entry', document, reason }));
}

function refused(entry: JsonObject) {
  const { signature: _, ...content } = entry;
  const bytes = Buffer.from(canonicalJson(content));
  const invalid = { code: 'signature-invalid' };
  const otherKey = { ...key, privateKey: keyOf('provider').privateKey };
  const proof = { verification_method: 'key-1', canonicalization: 'JCS' };
  const { isActive: __, ...less } = entry;
  const changed: Record<string, object> = {
    'a changed version': { ...entry, entryVersion: 99 },
    'a changed flag': { ...entry, isActive: false },
    'an added member': { ...entry, added: null },
    'a missing member': less,
  };
  return [
    ...malformedSignatures(entry, (header) => signedUnder(header, content)),
    ...Object.entries(changed).map(([name, document]) => ({
      ...{ ...invalid, name, document },
      reason: 'The signature covers every member, known or not.',
    })),
    {
      ...{
        ...invalid,
        name: 'the signature of another key',
        document: signDocument(content, otherKey, 'spec'),
      },
      reason: 'The key that the registry has under this name did not make it.',
    },
    {
      ...{ ...invalid, name: 'text that is not canonical was signed' },
      document: {
        ...content,
        signature: signJws(Buffer.from(JSON.stringify(content, null, 2)), { ...key, kid: 'key-1' }),
      },
      reason: 'The canonical form is signed, whatever the file looks like.',
    },
    {
      ...{ ...invalid, name: 'a signature that is a JWS without kid' },
      document: { ...content, signature: signJws(bytes, key) },
      reason: 'Nothing tells which key it is.',
    },
    {
      ...{ ...invalid, name: 'a proof whose JWS names a key, too' },
      document: { ...content, proof: { ...proof, jws: signJws(bytes, { ...key, kid: 'key-2' }) } },
      reason: 'verification_method names the key; the header has exactly three members.',
    },
    {
      ...{ ...invalid, name: 'a document with signature and proof' },
      document: { ...entry, proof: { ...proof, jws: signJws(bytes, key) } },
      reason: 'Which one counts?',
    },
    {
      ...{ code: 'signature-missing', name: 'a document without signature', document: content },
      reason: 'Every document carries its own signature.',
    },
    {
      ...{ code: 'key-unknown', name: 'a key that the registry does not have' },
      document: signDocument(content, { ...key, recordId: 'key-9' }, 'spec'),
      reason: 'The registry is the trust anchor, not the manifest.',
    },
    {
      ...{ code: 'key-foreign', name: 'a key of another node' },
      document: {
        ...content,
        signature: {
          keyId: 'bpp.example.com|key-1|ed25519',
          value: sign(null, bytes, keyOf('provider').privateKey).toString('base64'),
        },
      },
      reason: 'A node signs its own files.',
    },
  ].map(({ name, document, code, reason }) => {
    return { name, kind: 'entry', document: document as JsonObject, code, reason };
  });
}

/** A detached JWS with any protected header, signed as in RFC 7797. */
function signedUnder(header: string, content: JsonObject): string {
  const encoded = Buffer.from(header).toString('base64url');
  const input = Buffer.from(`${encoded}.${canonicalJson(content)}`);
  return `${encoded}..${sign(null, input, key.privateKey).toString('base64url')}`;
}
