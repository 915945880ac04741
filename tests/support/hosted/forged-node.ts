import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Digest } from '../../../src/protocol/digest.ts';
import type { SigningKey } from '../../../src/protocol/keys.ts';
import { proveDocument, signDocument } from '../../../src/protocol/signed-document.ts';
import type { Body } from '../network/actor.ts';
import type { Provider } from '../network/provider.ts';
import { type HostedKind, kindOf } from './tampering.ts';
import type { Spoiler } from './tampering-proxy.ts';

// A node that publishes wrong documents, or writes them as other implementations do: they are changed as requested and signed again with its key, and
// documents that name them by digest are updated. So a reader meets the intended fault, not a wrong signature or digest.

export type ForgedKind = HostedKind | 'entry';

/** The change of each kind of document, in place. */
export type Forgery = Partial<Record<ForgedKind, (document: Body) => void>>;

export interface ForgeryOptions {
  /** Kinds whose signature stays unchanged, or is made with another key than the node's. */
  signed?: Partial<Record<ForgedKind, 'as it was' | SigningKey>>;
  /** The ways to sign and write documents that differ from our publisher's. */
  hand?: Partial<Hand>;
}

export interface Hand {
  sign(kind: ForgedKind, document: Body, key: SigningKey): Body;
  /** The bytes that are served. */
  write(kind: HostedKind, document: Body): Buffer;
  /** The digest by which another document names the bytes. */
  digest(bytes: Buffer): string;
}

export function forge(provider: Provider, forgery: Forgery, options: ForgeryOptions = {}): Spoiler {
  const { signed = {} } = options;
  const { root, profile, baseUrl } = provider.tree;
  const ours: Hand = {
    sign: (kind, document, key) =>
      kind === 'manifest' || kind === 'record'
        ? proveDocument(document, key)
        : signDocument(document, key, profile),
    write: (_kind, document) => Buffer.from(JSON.stringify(document)),
    digest: sha256Digest,
  };
  const hand = { ...ours, ...options.hand };
  const read = async (path: string): Promise<Body> => JSON.parse(await readFile(join(root, path), 'utf8'));
  const pathOf = (url: string) => url.slice(baseUrl.length);

  function forged(kind: ForgedKind, document: Body): Body {
    forgery[kind]?.(document);
    const key = signed[kind] ?? provider.tree.key;
    return key === 'as it was' ? document : hand.sign(kind, document, key);
  }

  /** The currently served document at a path. */
  async function documentAt(path: string, kind: HostedKind): Promise<Body> {
    const document = await read(path);
    if (kind === 'manifest') await Promise.all(document.files.map(follow));
    if (kind === 'index') document.catalogs = await Promise.all(document.catalogs.map(entryOf));
    return forged(kind, document);
  }

  async function entryOf(entry: Body): Promise<Body> {
    await Promise.all([...(entry.baseline ? [entry.baseline] : []), ...(entry.changes ?? [])].map(follow));
    return forged('entry', entry);
  }

  /** Gives a reference the current digest of its file. */
  async function follow(reference: Body): Promise<void> {
    const path = pathOf(reference.url);
    const kind = kindOf(path);
    if (kind === undefined) throw new Error(`nothing is known of ${path}`);
    const bytes = hand.write(kind, await documentAt(path, kind));
    reference.digest = hand.digest(bytes);
    if (reference.size !== undefined) reference.size = bytes.length;
  }

  return async (path) => {
    const kind = kindOf(path);
    if (kind === undefined) return undefined;
    const body = hand.write(kind, await documentAt(path, kind));
    return { status: 200, headers: { etag: `"${sha256Digest(body)}"` }, body };
  };
}
