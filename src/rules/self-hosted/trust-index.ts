import { isJsonObject } from '../../protocol/json.ts';
import { parseCatalogIndex, parseIndexEntry } from '../../protocol/read-signed-files.ts';
import type { IndexEntry } from '../../protocol/signed-files.ts';
import { TrustFault, type TrustFaultCode } from './faults.ts';
import type { OpenedDocument } from './open-document.ts';
import { claimedRecordId, type HostingNode, type Keys, namesNode, verifySigner } from './signer.ts';
import { wellFormed } from './trust-node.ts';

// The catalog index and its entries (self-hosted spec: Discovery crawl order, 4). Each entry is signed separately: a bad one does not affect the others.

const trusted = Symbol('trusted');

export interface TrustedIndex {
  readonly url: string;
  /** Undefined if it announces none. */
  readonly nextUpdate: string | undefined;
  /** As received, not yet checked. */
  readonly entries: readonly unknown[];
  /** Undefined if an index without a signature is allowed and this one has none. */
  readonly signedBy: string | undefined;
  readonly [trusted]: 'index';
}

export interface TrustedEntry {
  readonly entry: IndexEntry;
  readonly signedBy: string;
  readonly [trusted]: 'entry';
}

export interface IndexLimits {
  maxEntries: number;
  maxChanges: number;
  maxMasters: number;
}

interface EntryReader {
  node: HostingNode;
  keys: Keys;
  limits: IndexLimits;
}

export function claimedKeysOfIndex({ document }: OpenedDocument): string[] {
  const entries = Array.isArray(document.catalogs) ? document.catalogs.filter(isJsonObject) : [];
  const claimed = [document, ...entries].map(claimedRecordId);
  return [...new Set(claimed.filter((recordId) => recordId !== undefined))];
}

export function trustIndex(
  { document, url }: OpenedDocument,
  { node, keys, limits, allowUnsigned }: EntryReader & { allowUnsigned: boolean },
): TrustedIndex {
  const isUnsigned = document.signature === undefined && document.proof === undefined;
  const signedBy = isUnsigned && allowUnsigned ? undefined : verifySigner('index', document, node, keys);
  const index = wellFormed('index', url, () => parseCatalogIndex(document));
  const { nodeId, next_update: nextUpdate, catalogs } = index;
  if (!namesNode(nodeId, node)) {
    const message = `The index at ${url} is that of ${nodeId}, but the record of ${node.identity} lists it.`;
    const compared = { expected: node.identity, got: nodeId };
    throw new TrustFault('index', 'node-mismatch', message, { compared });
  }
  if (catalogs.length > limits.maxEntries) {
    const message = `The index at ${url} has ${catalogs.length} entries; at most ${limits.maxEntries} are read.`;
    throw new TrustFault('index', 'too-many-entries', message);
  }
  return { url, nextUpdate, entries: catalogs, signedBy, [trusted]: 'index' };
}

export interface JudgedEntries {
  entries: TrustedEntry[];
  faults: { catalogId?: string; fault: TrustFault }[];
}

export function trustEntries(index: TrustedIndex, reader: EntryReader): JudgedEntries {
  const judged: JudgedEntries = { entries: [], faults: [] };
  const listed = countIds(index);
  for (const value of index.entries) {
    const catalogId = catalogIdOf(value);
    try {
      // It is unknown which of them counts: so neither does.
      if (catalogId !== undefined && (listed.get(catalogId) ?? 0) > 1) {
        const message = `The index at ${index.url} lists ${catalogId} more than once.`;
        throw new TrustFault('entry', 'entry-twice', message);
      }
      judged.entries.push(trustEntry(value, { url: index.url, ...reader }));
    } catch (fault) {
      if (!(fault instanceof TrustFault)) throw fault;
      judged.faults.push({ ...(catalogId !== undefined && { catalogId }), fault });
    }
  }
  return judged;
}

/** @param url the index that holds it */
export function trustEntry(
  value: unknown,
  { url, node, keys, limits }: EntryReader & { url: string },
): TrustedEntry {
  if (!isJsonObject(value)) {
    throw new TrustFault('entry', 'malformed', `An entry of the index at ${url} is not an object.`);
  }
  const signedBy = verifySigner('entry', value, node, keys);
  const entry = wellFormed('entry', url, () => parseIndexEntry(value));
  const { maxChanges, maxMasters } = limits;
  const [changes, masters] = [entry.changes.length, entry.dependencies?.masters?.length ?? 0];
  const refuse = (code: TrustFaultCode, what: string) =>
    new TrustFault('entry', code, `The entry of ${entry.catalogId} ${what} are read.`);
  if (changes > maxChanges)
    throw refuse('too-many-changes', `lists ${changes} changes; at most ${maxChanges}`);
  if (masters > maxMasters)
    throw refuse('too-many-masters', `depends on ${masters} masters; at most ${maxMasters}`);
  return { entry, signedBy, [trusted]: 'entry' };
}

function countIds({ entries }: TrustedIndex): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const id = catalogIdOf(entry);
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

export function catalogIdOf(entry: unknown): string | undefined {
  const id = isJsonObject(entry) ? entry.catalogId : undefined;
  return typeof id === 'string' ? id : undefined;
}
