import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { identityOf } from '../../../src/protocol/identity.ts';
import type { SigningKey } from '../../../src/protocol/keys.ts';
import type { IndexEntry } from '../../../src/protocol/signed-files.ts';
import { findIndexNames, indexUrl } from '../../../src/publisher/indexes.ts';
import {
  openPublisherTree,
  type PublisherTree,
  type PublisherTreeOptions,
} from '../../../src/publisher/tree.ts';
import {
  applyChangeFiles,
  type CatalogContent,
  contentOfBaseline,
} from '../../../src/rules/self-hosted/content.ts';
import { openDocument } from '../../../src/rules/self-hosted/open-document.ts';
import { type Cursor, planReading } from '../../../src/rules/self-hosted/reading-plan.ts';
import type { HostingNode, Keys } from '../../../src/rules/self-hosted/signer.ts';
import { trustBaseline, trustChange } from '../../../src/rules/self-hosted/trust-files.ts';
import { type TrustedEntry, trustEntries, trustIndex } from '../../../src/rules/self-hosted/trust-index.ts';
import { type AttributeChecker, createAttributeChecker } from '../../../src/rules/typed-attributes.ts';
import { bundledSchemas, loadSchemas } from '../../../src/schemas/schema-files.ts';

// A published tree in a temporary directory, and a reader that trusts nothing in it: with the same checks as the crawler, but on files instead of HTTP.

export const registryName = 'subscribers.beckn.one';
export const baseUrl = 'https://files.example.org/catalogs-of-ours';

let bundled: Promise<AttributeChecker> | undefined;

export async function bundledChecker(): Promise<AttributeChecker> {
  bundled ??= loadSchemas(bundledSchemas).then((schemas) => createAttributeChecker({ schemas }));
  return bundled;
}

export function newSigningKey(recordId = 'key-1'): SigningKey {
  return { subscriberId: 'example.org', recordId, privateKey: generateKeyPairSync('ed25519').privateKey };
}

export interface TestTree extends PublisherTree {
  directory: string;
  remove(): Promise<void>;
}

export async function makeTree(overrides: Partial<PublisherTreeOptions> = {}): Promise<TestTree> {
  const directory = await mkdtemp(join(tmpdir(), 'signpost-publisher-'));
  const checker = await bundledChecker();
  const tree = openPublisherTree({
    directory,
    baseUrl,
    nodeId: 'example.org',
    registryName,
    key: newSigningKey(),
    schemas: { checker: () => checker },
    logger: pino({ level: 'silent' }),
    ...overrides,
  });
  return { ...tree, directory, remove: () => rm(directory, { recursive: true, force: true }) };
}

/** A reader's copy of a catalog. */
export interface Held extends Cursor {
  content: CatalogContent;
}

export interface ReadCatalog {
  entry: IndexEntry;
  indexName: string;
  /** Undefined for a retired catalog. */
  held?: Held;
}

/** Reads everything that is published, starting from what is held; throws at the first file that cannot be trusted or does not follow. */
export async function readTree(
  tree: PublisherTree,
  { held = new Map(), keys = keysOf(tree.key), cutoverFraction = 0.5 }: ReadOptions = {},
): Promise<Map<string, ReadCatalog>> {
  const read = new Map<string, ReadCatalog>();
  for (const indexName of await findIndexNames(tree)) {
    for (const trusted of await readEntries(tree, indexName, keys)) {
      const { entry } = trusted;
      if (read.has(entry.catalogId)) throw new Error(`${entry.catalogId} is in two indexes`);
      const before = held.get(entry.catalogId);
      const now = await readCatalog(tree, trusted, before, keys, cutoverFraction);
      read.set(entry.catalogId, { entry, indexName, ...(now && { held: now }) });
    }
  }
  return read;
}

export interface ReadOptions {
  held?: ReadonlyMap<string, Held>;
  keys?: Keys;
  cutoverFraction?: number;
}

/** The registry's answer with these keys. */
export function keysOf(...keys: SigningKey[]): Keys {
  return new Map(
    keys.map(({ recordId, subscriberId, privateKey }) => [
      recordId,
      {
        kind: 'key' as const,
        publicKey: createPublicKey(privateKey),
        record: { recordId, subscriberId } as never,
      },
    ]),
  );
}

async function readEntries(tree: PublisherTree, indexName: string, keys: Keys): Promise<TrustedEntry[]> {
  const node = nodeOf(tree);
  const url = indexUrl(tree, indexName);
  const index = trustIndex(await openFile(tree, 'index', { url }), {
    node,
    keys,
    limits,
    allowUnsigned: false,
  });
  const { entries, faults } = trustEntries(index, { node, keys, limits });
  if (faults[0]) throw faults[0].fault;
  return entries;
}

async function readCatalog(
  tree: PublisherTree,
  trusted: TrustedEntry,
  before: Held | undefined,
  keys: Keys,
  cutoverFraction: number,
): Promise<Held | undefined> {
  const { entry } = trusted;
  if (entry.retiredAt !== undefined) return undefined;
  const reader = { node: nodeOf(tree), entry: trusted, keys, checker: await bundledChecker() };
  const plan = planReading(entry, before, { cutoverFraction });
  if (plan.kind === 'rollback' || plan.kind === 'gap') throw new Error(`${entry.catalogId}: ${plan.kind}`);
  let content = before?.content;
  if (plan.kind === 'baseline') {
    content = contentOfBaseline(trustBaseline(await openFile(tree, 'baseline', plan.baseline), reader).file);
  }
  if (plan.kind !== 'nothing') {
    const changes = await Promise.all(
      plan.changes.map(
        async (change) => trustChange(await openFile(tree, 'change', change), change, reader).file,
      ),
    );
    content = content && applyChangeFiles(content, changes);
  }
  if (content === undefined) throw new Error(`${entry.catalogId}: nothing leads to a content`);
  return { entryVersion: entry.entryVersion, version: content.version, content };
}

async function openFile(
  tree: PublisherTree,
  kind: 'index' | 'baseline' | 'change',
  { url, digest, size }: { url: string; digest?: string; size?: number },
) {
  if (!url.startsWith(`${tree.baseUrl}/`)) throw new Error(`${url} is not below ${tree.baseUrl}`);
  const bytes = await readFile(join(tree.root, url.slice(tree.baseUrl.length + 1)));
  if (size !== undefined && size !== bytes.length)
    throw new Error(`${url} has ${bytes.length} bytes, not ${size}`);
  return openDocument(kind, { url, wire: bytes }, { digest, maxInflatedBytes: 2 ** 30 });
}

function nodeOf({ nodeId, registryName }: PublisherTree): HostingNode {
  return { identity: identityOf(nodeId, registryName), registryName };
}

const limits = { maxEntries: 20_000, maxChanges: 1000, maxMasters: 8 };

/** Every served file, with its bytes. */
export async function servedFiles(tree: Pick<PublisherTree, 'root'>): Promise<Map<string, Buffer>> {
  const entries = await readdir(tree.root, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files.sort().map(async (file): Promise<[string, Buffer]> => {
    return [file.slice(tree.root.length + 1), await readFile(file)];
  });
  return new Map(await Promise.all(read));
}
