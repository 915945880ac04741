import { gzipSync } from 'node:zlib';
import { sha256Digest } from '../../src/protocol/digest.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/protocol/json.ts';
import type { SigningKey } from '../../src/protocol/keys.ts';
import { proveDocument, signDocument } from '../../src/protocol/signed-document.ts';
import { sampleCatalog } from '../support/hosted-node.ts';
import { type ByteMutation, mutateBytes } from './mutate-bytes.ts';
import { type Mutation, mutate } from './mutate-json.ts';

// The signed files of a node, built bottom up so that every digest fits; one of them is changed before it is signed, or after.

export const hostedKinds = ['manifest', 'record', 'index', 'entry', 'baseline', 'change'] as const;
export type HostedKind = (typeof hostedKinds)[number];

export interface TreeCase {
  kind: HostedKind;
  /** Before it is signed by the key of the node. */
  before: readonly Mutation[];
  /** After that, by whoever has no key: digests that name the file stay as they were. */
  after: readonly ByteMutation[];
  gzip: boolean;
}

export interface HostedTree {
  /** By path. */
  files: Map<string, Buffer>;
  base: string;
  catalogId: string;
  /** Whether the bytes of a file are others than those that its digest was made of. */
  isTampered: boolean;
}

export interface NodeIdentity {
  /** Bare domain. */
  id: string;
  identity: string;
  key: SigningKey;
  base: string;
  networkIds: string[];
}

const paths = {
  ...{
    manifest: '/.well-known/dedi.index.json',
    record: '/subscriber.json',
    index: '/index/catalogs.index.json',
  },
  ...{ baseline: '/catalogs/1.v2.json', change: '/catalogs/changes/1.v3.json' },
};

export function buildTree(node: NodeIdentity, one: TreeCase, catalogId: string): HostedTree {
  const { id, identity, base, networkIds } = node;
  const nextUpdate = new Date(Date.now() + 86_400_000).toISOString();
  const now = new Date().toISOString();
  const files = new Map<string, Buffer>();
  let isTampered = false;
  const seal = (kind: HostedKind, document: object): Json => {
    const changed = (kind === one.kind ? mutate(document, one.before) : document) as Json;
    return isJsonObject(changed) ? sign(kind, changed, node.key) : changed;
  };
  /** Writes it, and returns how others name it. */
  const write = (kind: keyof typeof paths, document: object) => {
    const text = Buffer.from(JSON.stringify(seal(kind, document)) ?? '');
    const whole = one.gzip && kind !== 'manifest' ? gzipSync(text) : text;
    const served = kind === one.kind ? mutateBytes(whole, one.after) : whole;
    files.set(paths[kind], served);
    isTampered ||= !served.equals(whole);
    return { url: base + paths[kind], size: whole.length, digest: sha256Digest(whole) };
  };
  const baseline = write('baseline', {
    ...{ catalogId, version: 2, next_update: nextUpdate, catalog: { ...sampleCatalog, id: catalogId } },
  });
  const change = write('change', {
    ...{ catalogId, fromVersion: 2, toVersion: 3, next_update: nextUpdate },
    ...{ resources: { upserts: [{ id: 'r3' }], removals: ['r2'] }, offers: { upserts: [], removals: [] } },
  });
  const entry = seal('entry', {
    ...{ catalogId, entryVersion: 4, catalogType: 'REGULAR', networkIds, isActive: true },
    baseline: { version: 2, ...baseline },
    changes: [{ version: 3, fromVersion: 2, toVersion: 3, ...change }],
  });
  write('index', { nodeId: identity, next_update: nextUpdate, catalogs: [entry] });
  const record = write('record', {
    ...{ dedi_version: '0.1', type: 'dedi-file', source_url: base + paths.record, next_update: nextUpdate },
    publisher: { domain: id, key: 'key-1' },
    namespace: id,
    registry: { name: 'beckn_subscriber', state: 'live', updated_at: now },
    records: [
      {
        record_name: 'key-1',
        details: { subscriber_id: id, url: base, type: 'BPP' },
        meta: { catalog_index_urls: [{ url: base + paths.index }] },
      },
    ],
  });
  write('manifest', {
    ...{
      dedi_version: '0.1',
      type: 'dedi-manifest',
      domain: id,
      keys: [],
      updated_at: now,
      next_update: nextUpdate,
    },
    files: [{ registry: 'beckn_subscriber', url: record.url, digest: record.digest }],
  });
  return { files, base, catalogId, isTampered };
}

/** A text that is no Unicode has no canonical form: what holds one cannot be signed, and is served as it is. */
function sign(kind: HostedKind, document: JsonObject, key: SigningKey): Json {
  try {
    const signed =
      kind === 'manifest' || kind === 'record'
        ? proveDocument(document, key)
        : signDocument(document, key, 'spec');
    return JSON.parse(JSON.stringify(signed));
  } catch {
    return document;
  }
}
