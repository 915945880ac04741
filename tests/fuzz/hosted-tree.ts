import { gzipSync } from 'node:zlib';
import { sha256Digest } from '../../src/protocol/digest.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/protocol/json.ts';
import type { SigningKey } from '../../src/protocol/keys.ts';
import { proveDocument, signDocument } from '../../src/protocol/signed-document.ts';
import { type FileFacts, hostedDocuments, hostedPaths } from '../support/hosted/hosted-documents.ts';
import { type ByteMutation, mutateBytes } from './mutate-bytes.ts';
import { type Mutation, mutate } from './mutate-json.ts';

// The signed files of a node, built bottom up so that every digest matches; one of them is changed before or after it is signed.

export const hostedKinds = ['manifest', 'record', 'index', 'entry', 'baseline', 'change'] as const;
export type HostedKind = (typeof hostedKinds)[number];

export interface TreeCase {
  kind: HostedKind;
  /** Before the node's key signs it. */
  before: readonly Mutation[];
  /** Afterwards, without a key: digests that name the file stay unchanged. */
  after: readonly ByteMutation[];
  gzip: boolean;
}

export interface HostedTree {
  /** By path. */
  files: Map<string, Buffer>;
  base: string;
  catalogId: string;
  /** Whether the bytes of a file differ from those of its digest. */
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

export function buildTree(node: NodeIdentity, one: TreeCase, catalogId: string): HostedTree {
  const { id: domain, identity, base, networkIds } = node;
  const documents = hostedDocuments({
    ...{ domain, identity, base, networkIds, catalogId },
    updatedAt: new Date().toISOString(),
    nextUpdate: new Date(Date.now() + 86_400_000).toISOString(),
  });
  const files = new Map<string, Buffer>();
  let isTampered = false;
  const seal = (kind: HostedKind, document: object): Json => {
    const changed = (kind === one.kind ? mutate(document, one.before) : document) as Json;
    return isJsonObject(changed) ? sign(kind, changed, node.key) : changed;
  };
  /** Writes it, and returns the facts for references. */
  const write = (kind: keyof typeof hostedPaths, document: object): FileFacts => {
    const text = Buffer.from(JSON.stringify(seal(kind, document)) ?? '');
    const whole = one.gzip && kind !== 'manifest' ? gzipSync(text) : text;
    const served = kind === one.kind ? mutateBytes(whole, one.after) : whole;
    files.set(hostedPaths[kind], served);
    isTampered ||= !served.equals(whole);
    return { url: base + hostedPaths[kind], size: whole.length, digest: sha256Digest(whole) };
  };
  const baseline = write('baseline', documents.baseline());
  const change = write('change', documents.change());
  write('index', documents.index([seal('entry', documents.entry(baseline, change))]));
  write('manifest', documents.manifest(write('record', documents.record())));
  return { files, base, catalogId, isTampered };
}

/** Text that is not valid Unicode has no canonical form: a document with it cannot be signed, and is served unsigned. */
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
