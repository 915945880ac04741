import { sha256Digest } from '../../src/protocol/digest.ts';
import type { Json, JsonObject } from '../../src/protocol/json.ts';
import {
  generateSeed,
  parsePublicKey,
  privateKeyFromSeed,
  publicKeyOf,
  type SigningKey,
} from '../../src/protocol/keys.ts';
import type { KeyLookup, ParticipantRecord } from '../../src/protocol/registry-record.ts';
import { proveDocument, signDocument, type WireProfile } from '../../src/protocol/signed-document.ts';
import type { ServedFile } from '../../src/rules/self-hosted/open-document.ts';
import type { HostingNode } from '../../src/rules/self-hosted/signer.ts';

// A node that hosts signed files, as values: its key, what the registry says about it, and documents signed by it that a test can
// bend. For tests of reading; whole ways use the real publisher.

export const registryName = 'subscribers.beckn.one';
export const nextUpdate = '2026-03-02T12:00:00Z';

export interface HostedNode {
  node: HostingNode;
  /** A key of the node, under its record id, and what the registry says about it. */
  key(recordId?: string): SigningKey;
  lookup(recordId?: string): KeyLookup;
  keys(...recordIds: string[]): Map<string, KeyLookup>;
  manifest(changes?: object): JsonObject;
  record(changes?: object): JsonObject;
  index(entries: readonly unknown[], changes?: object): JsonObject;
  entry(changes?: object): JsonObject;
  baseline(changes?: object): JsonObject;
  change(changes?: object): JsonObject;
}

export const sampleCatalog = {
  id: 'catalog-1',
  descriptor: { name: 'Chargers' },
  provider: { id: 'p', descriptor: { name: 'P' } },
  resources: [{ id: 'r1', descriptor: { name: 'One' } }, { id: 'r2' }],
  offers: [{ id: 'o1', resourceIds: ['r1'] }],
};

export function hostedNode(domain = 'bpp.example.org', profile: WireProfile = 'spec'): HostedNode {
  const identity = `${domain}/${registryName}`;
  const seeds = new Map<string, string>();
  const key = (recordId = 'key-1'): SigningKey => {
    const seed = seeds.get(recordId) ?? generateSeed();
    seeds.set(recordId, seed);
    return { subscriberId: identity, recordId, privateKey: privateKeyFromSeed(seed) };
  };
  const lookup = (recordId = 'key-1'): KeyLookup => ({
    kind: 'key',
    publicKey: parsePublicKey(publicKeyOf(key(recordId).privateKey)),
    record: { recordId, subscriberId: domain, state: 'live' } as ParticipantRecord,
  });
  const signed = (document: object): JsonObject => asJson(signDocument(asJson(document), key(), profile));
  const proven = (document: object): JsonObject => asJson(proveDocument(asJson(document), key()));
  const url = (path: string) => `https://${domain}/${path}`;
  const self: HostedNode = {
    node: { identity, recordSubscriberId: domain, registryName },
    key,
    lookup,
    keys: (...recordIds) =>
      new Map((recordIds.length > 0 ? recordIds : ['key-1']).map((recordId) => [recordId, lookup(recordId)])),
    manifest: (changes) =>
      proven({
        dedi_version: '0.1',
        type: 'dedi-manifest',
        domain,
        keys: [],
        updated_at: '2026-03-01T12:00:00Z',
        next_update: nextUpdate,
        files: [
          { registry: 'beckn_subscriber', url: url('subscriber.json'), digest: digestOf(self.record()) },
        ],
        ...changes,
      }),
    record: (changes) =>
      proven({
        dedi_version: '0.1',
        type: 'dedi-file',
        source_url: url('subscriber.json'),
        next_update: nextUpdate,
        publisher: { domain, key: 'key-1' },
        namespace: domain,
        registry: { name: 'beckn_subscriber', state: 'live', updated_at: '2026-03-01T12:00:00Z' },
        records: [
          {
            record_name: 'key-1',
            details: { subscriber_id: domain, url: url(''), type: 'BPP' },
            meta: { catalog_index_urls: [{ url: url('index/catalogs.index.json') }] },
          },
        ],
        ...changes,
      }),
    index: (entries, changes) =>
      signed({ nodeId: identity, next_update: nextUpdate, catalogs: entries, ...changes }),
    entry: (changes) =>
      signed({
        catalogId: 'catalog-1',
        entryVersion: 4,
        catalogType: 'REGULAR',
        networkIds: ['nfh.global/beckn-nodes'],
        isActive: true,
        baseline: reference(url('catalogs/1.v2.json'), { version: 2 }, self.baseline()),
        changes: [
          reference(
            url('catalogs/changes/1.v3.json'),
            { version: 3, fromVersion: 2, toVersion: 3 },
            self.change(),
          ),
        ],
        ...changes,
      }),
    baseline: (changes) =>
      signed({
        catalogId: 'catalog-1',
        version: 2,
        next_update: nextUpdate,
        catalog: sampleCatalog,
        ...changes,
      }),
    change: (changes) =>
      signed({
        catalogId: 'catalog-1',
        fromVersion: 2,
        toVersion: 3,
        next_update: nextUpdate,
        resources: { upserts: [{ id: 'r3' }], removals: ['r2'] },
        offers: { upserts: [], removals: [] },
        ...changes,
      }),
  };
  return self;
}

/** How an entry names a file. */
export function reference<T extends object>(url: string, versions: T, file: Json): T & JsonObject {
  const bytes = bytesOf(file);
  return { ...versions, url, size: bytes.length, digest: sha256Digest(bytes) };
}

export function served(url: string, content: Json | Uint8Array): ServedFile {
  return { url, wire: content instanceof Uint8Array ? content : bytesOf(content) };
}

export function digestOf(document: Json): string {
  return sha256Digest(bytesOf(document));
}

function bytesOf(document: Json): Buffer {
  return Buffer.from(JSON.stringify(document));
}

/** As a reader gets it: what is undefined is not there. */
function asJson(document: object): JsonObject {
  return JSON.parse(JSON.stringify(document));
}
