import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf, hostedNode, registryName, served } from '../../../tests/support/hosted/hosted-node.ts';
import { arbitraryChange } from '../../../tests/support/values/arbitrary-change.ts';
import type { Json, JsonObject } from '../../protocol/json.ts';
import { proveDocument } from '../../protocol/signed-document.ts';
import type { HostedDocument } from './faults.ts';
import { openDocument } from './open-document.ts';
import { readSubscriberRecord } from './read-record.ts';
import { trustManifest, trustSubscriberRecord } from './trust-node.ts';

const hosted = hostedNode();
const { node } = hosted;
const host = 'bpp.example.org';
const fault = (document: HostedDocument, code: string) => expect.objectContaining({ document, code });

function open(kind: HostedDocument, document: Json, digest?: string) {
  return openDocument(kind, served(`https://${host}/${kind}.json`, document), {
    digest,
    maxInflatedBytes: 1e6,
  });
}

function readManifest(document: JsonObject, keys = hosted.keys(), at = host) {
  return trustManifest(open('manifest', document), { node, host: at, keys });
}

function readRecord(record: JsonObject, keys = hosted.keys()) {
  const files = [{ registry: 'beckn_subscriber', url: `https://${host}/r.json`, digest: digestOf(record) }];
  const manifest = readManifest(hosted.manifest({ files }));
  return trustSubscriberRecord(open('record', record, digestOf(record)), { node, manifest, keys });
}

describe('a manifest', () => {
  it('is trusted when a key signed it that the registry knows as the node’s', () => {
    const { signedBy, recordFiles } = readManifest(hosted.manifest());
    expect(signedBy).toBe('key-1');
    expect(recordFiles).toHaveLength(1);
  });

  it('may be that of the serving host or of the namespace, in any case', () => {
    expect(
      readManifest(hosted.manifest({ domain: 'BPP.example.org' }), undefined, 'cdn.example.net').signedBy,
    ).toBe('key-1');
    expect(readManifest(hosted.manifest({ domain: '127.0.0.1' }), undefined, '127.0.0.1:4004').signedBy).toBe(
      'key-1',
    );
  });

  it('finds the record among files of other registries', () => {
    const record = { registry: registryName, url: 'https://x.example/r.json', digest: digestOf({}) };
    const other = { ...record, registry: 'other' };
    expect(readManifest(hosted.manifest({ files: [other, record] })).recordFiles).toEqual([record]);
    expect(readManifest(hosted.manifest({ files: [other] })).recordFiles).toEqual([other]);
  });

  it('domain-mismatch: of somebody else is refused', () => {
    expect(() => readManifest(hosted.manifest({ domain: 'other.example.org' }))).toThrow(
      fault('manifest', 'domain-mismatch'),
    );
  });

  it('signature-missing: without a proof is refused', () => {
    const { proof: _, ...unsigned } = hosted.manifest();
    expect(() => readManifest(unsigned)).toThrow(fault('manifest', 'signature-missing'));
  });

  it('signature-invalid: signed with another key under the same name is refused', () => {
    expect(() => readManifest(hosted.manifest(), hostedNode().keys())).toThrow(
      fault('manifest', 'signature-invalid'),
    );
  });

  it('key-unknown: a manifest key that the registry does not know is worth nothing', () => {
    expect(() => readManifest(hosted.manifest(), new Map())).toThrow(fault('manifest', 'key-unknown'));
  });

  it('key-unusable: signed with a revoked key is refused', () => {
    const keys = new Map([['key-1', { kind: 'unusable' as const, reason: 'the key is in state revoked' }]]);
    expect(() => readManifest(hosted.manifest(), keys)).toThrow(fault('manifest', 'key-unusable'));
  });

  it('node-unknown: of a node that is not registered is refused', () => {
    const keys = new Map([['key-1', { kind: 'unknown-subscriber' as const }]]);
    expect(() => readManifest(hosted.manifest(), keys)).toThrow(fault('manifest', 'node-unknown'));
  });

  it('malformed: without files that have a digest is refused', () => {
    const files = [{ registry: 'beckn_subscriber', url: 'https://x.example' }];
    expect(() => readManifest(hosted.manifest({ files }))).toThrow(fault('manifest', 'malformed'));
  });

  it('is refused after any change of its JSON value', () => {
    fc.assert(
      fc.property(arbitraryChange(hosted.manifest()), (changed) => {
        expect(() => readManifest(changed)).toThrow(fault('manifest', 'signature-invalid'));
      }),
    );
  });
});

// DeDi's newer manifests.
describe('a manifest in a newer form', () => {
  const record = hosted.record();
  const url = `https://${host}/r.json`;
  const reference = { registry: 'beckn_subscriber', url };
  const prove = (document: JsonObject): JsonObject =>
    JSON.parse(JSON.stringify(proveDocument(document, hosted.key())));
  const digestsOf = (changes: object = {}) =>
    prove({
      ...{ dedi_version: '0.1', type: 'dedi-digests', domain: host },
      ...{ updated_at: '2026-03-01T12:00:00Z', next_update: '2026-03-02T12:00:00Z' },
      digests: { beckn_subscriber: digestOf(record), other: 'sha-512:00' },
      ...changes,
    });
  const read = (manifest: object, digests?: JsonObject, keys = hosted.keys()) =>
    readSubscriberRecord(
      {
        open: async (kind, _url, digest) => open(kind, kind === 'record' ? record : (digests ?? {}), digest),
        findKeys: async () => keys,
      },
      node,
      readManifest(hosted.manifest(manifest)),
    );
  const named = { digests: `https://${host}/dedi/digests.json` };

  it('has the digests in a document of its own, which counts more than the manifest', async () => {
    for (const files of [[reference], [{ ...reference, digest: digestOf({}) }]]) {
      const { record: found, digests } = await read({ ...named, files }, digestsOf());
      expect(found).toMatchObject({ signedBy: 'key-1' });
      expect(digests?.updated_at).toBe('2026-03-01T12:00:00Z');
    }
    const stale = digestsOf({ digests: { beckn_subscriber: digestOf({}) } });
    const files = [{ ...reference, digest: digestOf(record) }];
    await expect(read({ ...named, files }, stale)).rejects.toThrow(fault('record', 'digest-mismatch'));
  });

  it('malformed: is refused where the digest of a file stands nowhere', async () => {
    const files = [reference];
    await expect(read({ ...named, files }, digestsOf({ digests: {} }))).rejects.toThrow(
      fault('manifest', 'malformed'),
    );
  });

  it('is refused where its digests are not signed by the node, or are those of another domain', async () => {
    const files = [reference];
    const changed = { ...digestsOf(), updated_at: '2030-01-01T00:00:00Z' };
    await expect(read({ ...named, files }, changed)).rejects.toThrow(fault('digests', 'signature-invalid'));
    const foreign = digestsOf({ domain: 'other.example.org' });
    await expect(read({ ...named, files }, foreign)).rejects.toThrow(fault('digests', 'domain-mismatch'));
  });

  it('has a file inline, whose own proof is verified', async () => {
    expect((await read({ files: [record] })).record).toMatchObject({ signedBy: 'key-1' });
    const altered = { ...record, namespace: 'other' };
    await expect(read({ files: [altered] })).rejects.toThrow(fault('record', 'signature-invalid'));
    const { proof: _, ...unsigned } = record;
    await expect(read({ files: [unsigned] })).rejects.toThrow(fault('record', 'signature-missing'));
  });

  it('malformed: is refused where an entry is a file and an address', () => {
    expect(() => readManifest(hosted.manifest({ files: [{ ...record, url }] }))).toThrow(
      fault('manifest', 'malformed'),
    );
  });
});

describe('a Subscriber record', () => {
  const indexUrl = `https://${host}/index/catalogs.index.json`;
  const bare = (meta: object, details: object = {}) => ({
    record_name: 'key-1',
    details: { subscriber_id: host, ...details },
    meta: meta as JsonObject,
  });

  it('names the indexes of the node', () => {
    expect(readRecord(hosted.record())).toMatchObject({ catalogIndexUrls: [indexUrl], signedBy: 'key-1' });
  });

  it('is read bare, bound by the digest of the manifest alone', () => {
    const read = readRecord(bare({ catalog_index_urls: [{ url: indexUrl }] }));
    expect(read).toMatchObject({ catalogIndexUrls: [indexUrl], signedBy: undefined });
  });

  it('is read flat, as the specification has it', () => {
    const meta = { catalog_index_urls: [{ url: indexUrl }] };
    const read = readRecord({ subscriber_id: host, type: 'BPP', url: `https://${host}`, meta });
    expect(read).toMatchObject({ catalogIndexUrls: [indexUrl], signedBy: undefined });
    expect(() => readRecord({ subscriber_id: 'other.example.org', type: 'BPP', meta })).toThrow(
      fault('record', 'record-missing'),
    );
  });

  it('is read with catalog_index_urls as a JSON string', () => {
    const read = readRecord(bare({ catalog_index_urls: JSON.stringify([{ url: indexUrl }]) }));
    expect(read.catalogIndexUrls).toEqual([indexUrl]);
  });

  it('digest-mismatch: that the manifest does not name is refused', () => {
    const manifest = readManifest(hosted.manifest());
    const record = hosted.record({ namespace: 'other' });
    const keys = hosted.keys();
    expect(() => trustSubscriberRecord(open('record', record), { node, manifest, keys })).toThrow(
      fault('record', 'digest-mismatch'),
    );
    const opened = open('record', record, digestOf(record));
    expect(() => trustSubscriberRecord(opened, { node, manifest, keys })).toThrow(
      fault('record', 'digest-mismatch'),
    );
  });

  it('signature-missing: a file of records without a proof is refused', () => {
    const { proof: _, ...unsigned } = hosted.record();
    expect(() => readRecord(unsigned)).toThrow(fault('record', 'signature-missing'));
  });

  it('signature-invalid: with a wrong proof is refused, bare or not', () => {
    const { proof } = hosted.manifest();
    expect(() => readRecord({ ...hosted.record(), proof: proof as Json })).toThrow(
      fault('record', 'signature-invalid'),
    );
    expect(() => readRecord({ ...bare({}), proof: proof as Json })).toThrow(
      fault('record', 'signature-invalid'),
    );
  });

  it('record-inactive: a file whose registry is inactive is refused, in any case', () => {
    const registry = { name: 'beckn_subscriber', state: 'Inactive', updated_at: '2026-03-01T12:00:00Z' };
    expect(() => readRecord(hosted.record({ registry }))).toThrow(fault('record', 'record-inactive'));
    expect(readRecord(hosted.record({ registry: { ...registry, state: 'active' } })).signedBy).toBe('key-1');
  });

  it('record-missing: a file without a record of the node is refused', () => {
    expect(() => readRecord(bare({}, { subscriber_id: 'other.example.org' }))).toThrow(
      fault('record', 'record-missing'),
    );
  });
});
