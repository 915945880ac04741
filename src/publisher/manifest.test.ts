import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256Matches } from '../protocol/digest.ts';
import { isJsonObject, type JsonObject, parseJson } from '../protocol/json.ts';
import { generateSeed, parsePublicKey, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { parseManifest, parseSubscriberRecords } from '../protocol/read-signed-files.ts';
import { claimedKeyOf, verifyDocument } from '../protocol/signed-document.ts';
import { SubscriberRecordFile } from '../protocol/signed-files.ts';
import { validator } from '../protocol/validate.ts';
import { buildManifest, buildSubscriberRecord, type NodeDescription } from './manifest.ts';

const privateKey = privateKeyFromSeed(generateSeed());
const publicKey = createPublicKey(privateKey);
const node: NodeDescription = {
  id: 'voltpath.example',
  registryName: 'subscribers.beckn.one',
  url: 'https://voltpath.example',
  baseUrl: 'https://files.voltpath.example/beckn',
  indexUrls: ['https://files.voltpath.example/beckn/index/catalogs.index.json'],
  key: { subscriberId: 'voltpath.example', recordId: 'key-2', privateKey },
  formerKeys: [
    { kid: 'key-1', kty: 'OKP', crv: 'Ed25519', x: 'awGPjRK6i_Vg_lWr-0xObclVxlwZXvTjWYtlu6NeOHk' },
  ],
  profile: 'spec',
};
const times = { now: new Date('2026-01-02T03:04:05Z'), nextUpdate: new Date('2026-01-03T03:04:05Z') };

function read(bytes: Buffer): JsonObject {
  const document = parseJson(bytes);
  if (!isJsonObject(document)) throw new Error('no document');
  return document;
}

describe('the Subscriber record', () => {
  const record = buildSubscriberRecord(node, times);
  const document = read(record.bytes);

  it('names the indexes, and is signed', () => {
    expect(parseSubscriberRecords(document)).toEqual([
      {
        recordId: 'key-2',
        subscriberId: 'voltpath.example',
        url: 'https://voltpath.example',
        type: 'BPP',
        catalogIndexUrls: node.indexUrls,
      },
    ]);
    expect(claimedKeyOf(document)).toBe('key-2');
    expect(verifyDocument(document, publicKey)).toBe('key-2');
  });

  it('has the shape of a DeDi file, and says where it stands', () => {
    expect(validator(SubscriberRecordFile)(document)).toMatchObject({
      type: 'dedi-file',
      source_url: 'https://files.voltpath.example/beckn/subscriber.json',
      next_update: '2026-01-03T03:04:05.000Z',
      namespace: 'voltpath.example',
      publisher: {
        domain: 'voltpath.example',
        key: { kid: 'key-2', ...publicKey.export({ format: 'jwk' }) },
      },
      registry: { name: 'beckn_subscriber', state: 'live' },
    });
  });

  it('gives domain and countries as its operator says, or the host of the node and no country', () => {
    const detailsOf = (described: NodeDescription) =>
      validator(SubscriberRecordFile)(read(buildSubscriberRecord(described, times).bytes)).records[0]
        ?.details;
    expect(detailsOf(node)).toMatchObject({ domain: 'voltpath.example', countries: [] });
    expect(detailsOf({ ...node, domain: 'energy', countries: ['IND', 'NPL'] })).toMatchObject({
      domain: 'energy',
      countries: ['IND', 'NPL'],
    });
  });

  it('stands under the same name when nothing has changed, and under another when something has', () => {
    expect(buildSubscriberRecord(node, times)).toEqual(record);
    const other = buildSubscriberRecord(
      { ...node, indexUrls: [...node.indexUrls, 'https://a.example/b'] },
      times,
    );
    expect(other.path).not.toBe(record.path);
  });
});

describe('the manifest', () => {
  const record = buildSubscriberRecord(node, times);
  const document = read(buildManifest(node, record, times));
  const manifest = parseManifest(document);

  it('names the Subscriber record by the digest of its bytes, and is signed', () => {
    const [file, ...others] = manifest.files;
    expect(others).toEqual([]);
    expect(file).toMatchObject({ registry: 'beckn_subscriber', url: `${node.baseUrl}/${record.path}` });
    expect(sha256Matches(file?.digest ?? '', record.bytes)).toBe(true);
    expect(verifyDocument(document, publicKey)).toBe('key-2');
  });

  it('is of the domain of the node, until the next update', () => {
    expect(manifest).toMatchObject({
      type: 'dedi-manifest',
      domain: 'voltpath.example',
      updated_at: '2026-01-02T03:04:05.000Z',
      next_update: '2026-01-03T03:04:05.000Z',
    });
    const elsewhere = buildManifest({ ...node, id: 'namespace.example/a-registry' }, record, times);
    expect(parseManifest(read(elsewhere)).domain).toBe('namespace.example');
  });

  it('lists the key in use first, then the earlier ones', () => {
    expect(manifest.keys.map(({ kid }) => kid)).toEqual(['key-2', 'key-1']);
    const listed = parsePublicKey(manifest.keys[0]?.x ?? '');
    expect(listed.equals(parsePublicKey(publicKeyOf(privateKey)))).toBe(true);
  });

  it('writes digests as the wire profile has them', () => {
    const other = buildManifest({ ...node, profile: 'nfh014' }, record, times);
    expect(parseManifest(read(other)).files[0]?.digest).toMatch(/^sha-256:/);
    expect(manifest.files[0]?.digest).toMatch(/^sha256:/);
  });
});
