import { sha256Digest } from '../../../src/protocol/digest.ts';
import type { Json, JsonObject } from '../../../src/protocol/json.ts';
import {
  generateSeed,
  parsePublicKey,
  privateKeyFromSeed,
  publicKeyOf,
  type SigningKey,
} from '../../../src/protocol/keys.ts';
import type { KeyLookup, ParticipantRecord } from '../../../src/protocol/registry-record.ts';
import { proveDocument, signDocument, type WireProfile } from '../../../src/protocol/signed-document.ts';
import type { ServedFile } from '../../../src/rules/self-hosted/open-document.ts';
import type { HostingNode } from '../../../src/rules/self-hosted/signer.ts';
import { type FileFacts, hostedDocuments, hostedPaths, sampleCatalog } from './hosted-documents.ts';

// A node that hosts signed files, as values: its key, the registry's answers about it, and signed documents that a test can change. For tests of
// reading; tests of whole ways use the real publisher.

export const registryName = 'subscribers.beckn.one';
export const nextUpdate = '2026-03-02T12:00:00Z';

export interface HostedNode {
  node: HostingNode;
  /** A key of the node, under its record id, with the registry's answer about it. */
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
  const base = `https://${domain}`;
  const documents = hostedDocuments({
    ...{ domain, identity, base, networkIds: ['nfh.global/beckn-nodes'], catalogId: sampleCatalog.id },
    ...{ updatedAt: '2026-03-01T12:00:00Z', nextUpdate },
  });
  const nameFile = (kind: keyof typeof hostedPaths, file: Json) => fileFacts(base + hostedPaths[kind], file);
  const self: HostedNode = {
    node: { identity, recordSubscriberId: domain, registryName },
    key,
    lookup,
    keys: (...recordIds) =>
      new Map((recordIds.length > 0 ? recordIds : ['key-1']).map((recordId) => [recordId, lookup(recordId)])),
    manifest: (changes) => proven({ ...documents.manifest(nameFile('record', self.record())), ...changes }),
    record: (changes) => proven({ ...documents.record(), ...changes }),
    index: (entries, changes) => signed({ ...documents.index(entries), ...changes }),
    entry: (changes) =>
      signed({
        ...documents.entry(nameFile('baseline', self.baseline()), nameFile('change', self.change())),
        ...changes,
      }),
    baseline: (changes) => signed({ ...documents.baseline(), ...changes }),
    change: (changes) => signed({ ...documents.change(), ...changes }),
  };
  return self;
}

/** An entry's reference to a file. */
export function reference<T extends object>(url: string, versions: T, file: Json): T & FileFacts {
  return { ...versions, ...fileFacts(url, file) };
}

function fileFacts(url: string, file: Json): FileFacts {
  const bytes = bytesOf(file);
  return { url, size: bytes.length, digest: sha256Digest(bytes) };
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

/** As a reader gets it: members with undefined values are absent. */
function asJson(document: object): JsonObject {
  return JSON.parse(JSON.stringify(document));
}
