import type { Resource } from '../../protocol/catalog.ts';
import { identityOf } from '../../protocol/identity.ts';
import type { IndexEntry } from '../../protocol/signed-files.ts';
import { networksMeet } from '../../rules/extends.ts';
import { judgeEntry } from '../../rules/self-hosted/acceptance.ts';
import type { CatalogContent } from '../../rules/self-hosted/content.ts';
import type { HostingNode } from '../../rules/self-hosted/signer.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { readContent } from '../crawl/read-content.ts';
import { readHint, readIndex } from '../crawl/read-index.ts';
import { findNodeRecord, hostingNode, readNode } from '../crawl/read-node.ts';
import { askRegistry } from '../crawl/reader.ts';
import { isReadingFault } from '../crawl/reasons.ts';
import type { Examination, ExaminedNode } from './examine-node.ts';
import { type Finding, warning } from './findings.ts';

// Finds templates like a crawler (self-hosted spec: Entry, dependencies.masters): in the node, by the hint of the entry, in the networks of the node.

export type MasterSearch = ReturnType<typeof createMasterSearch>;

/** Maximum of nodes read in a large network: a crawler has more time. */
const maxNodesAsked = 200;

interface HostedMaster {
  node: HostingNode;
  trusted: TrustedEntry;
}

export function createMasterSearch(
  exam: Examination,
  { node: patient, networkMemberships }: ExaminedNode,
  own: readonly TrustedEntry[],
) {
  const { reader, registry, policy, signal } = exam;
  const contents = new Map<TrustedEntry, Promise<CatalogContent | undefined>>();
  const networks = new Map<string, Promise<string[]>>();
  const nodes = new Map<string, Promise<HostedMaster[]>>();

  /** `found` is by the id of the master resource; `warnings` are dead hints. */
  async function find(entry: IndexEntry, content: CatalogContent) {
    const wanted = new Set([...content.directives.values()].map((one) => one.extends.masterResourceId));
    const found = new Map<string, Resource>();
    const warnings: Finding[] = [];
    for await (const master of candidates(entry, warnings)) {
      if (!isTaken(master, entry)) continue;
      const resources = (await once(contents, master.trusted, () => read(master)))?.resources;
      for (const id of wanted) {
        const resource = found.has(id) ? undefined : resources?.get(id);
        if (resource) found.set(id, resource);
      }
      if (found.size === wanted.size) break;
    }
    return { found, missing: [...wanted].filter((id) => !found.has(id)), warnings };
  }

  /** Whether it shares a network with the extending catalog, and its owner's templates are accepted. */
  function isTaken({ node: { identity }, trusted }: HostedMaster, extending: IndexEntry): boolean {
    const { networkIds = [] } = extending;
    const publisher = { identity, networkMemberships: [...networkIds, ...policy.networkIds] };
    const lenient = { ...policy, networkIds: [], enforceMembership: false };
    const judged = judgeEntry(trusted.entry, publisher, lenient);
    return judged.kind === 'accepted' && networksMeet(judged.networkIds, networkIds);
  }

  async function* candidates(entry: IndexEntry, warnings: Finding[]): AsyncGenerator<HostedMaster> {
    yield* mastersOf(patient, own);
    for (const { catalogId, indexUrl } of entry.dependencies?.masters ?? []) {
      if (indexUrl === undefined) continue;
      const hinted = await ignoringFaults(() => readHinted(indexUrl));
      if (hinted?.some(({ trusted }) => trusted.entry.catalogId === catalogId)) yield* hinted;
      else {
        const about = { document: 'entry', catalogId: entry.catalogId, url: indexUrl } as const;
        const message = `The hint for the MASTER catalog ${catalogId} cannot be followed.`;
        warnings.push(warning(about, 'master-hint-failed', message));
      }
    }
    for (const networkId of networksOf(entry)) {
      const members = await once(networks, networkId, () => membersOf(networkId));
      for (const identity of members) yield* await once(nodes, identity, () => readMasters(identity));
    }
  }

  function networksOf({ networkIds = [] }: IndexEntry): string[] {
    const named = [...networkMemberships, ...policy.networkIds];
    return [...new Set(named.filter((id) => networkIds.length === 0 || networkIds.includes(id)))];
  }

  async function membersOf(networkId: string): Promise<string[]> {
    const records = await askRegistry(() => registry.queryNetwork(networkId));
    const members = records.map(({ subscriberId }) => identityOf(subscriberId, policy.registryName));
    return [...new Set(members)].filter((identity) => identity !== patient.identity).slice(0, maxNodesAsked);
  }

  /** Walks the whole chain for each: being named as a master proves nothing. */
  async function readHinted(url: string): Promise<HostedMaster[]> {
    const { node: identity } = await readHint(reader, url, signal);
    return once(nodes, identity, () => readMasters(identity));
  }

  async function readMasters(identity: string): Promise<HostedMaster[]> {
    const masters = await ignoringFaults(async () => {
      const question = { identity, signal };
      const record = await findNodeRecord(reader, question);
      const { indexUrls = [], keyNames } = await readNode(reader, question, record);
      const node = { ...hostingNode(reader, identity, record.records), keyNames };
      return Promise.all(indexUrls.map((url) => ignoringFaults(() => readMastersAt(node, url))));
    });
    return (masters ?? []).flatMap((list) => list ?? []);
  }

  async function readMastersAt(node: HostingNode, url: string): Promise<HostedMaster[]> {
    const reading = await readIndex(reader, node, url, { signal });
    return reading.kind === 'unchanged' ? [] : mastersOf(node, reading.entries);
  }

  async function read({ node, trusted }: HostedMaster): Promise<CatalogContent | undefined> {
    const reading = await ignoringFaults(() => readContent(reader, node, trusted, undefined, signal));
    return reading?.kind === 'full' ? reading.content : undefined;
  }

  return find;
}

function mastersOf(node: HostingNode, entries: readonly TrustedEntry[]): HostedMaster[] {
  const isMaster = ({ entry }: TrustedEntry) =>
    entry.catalogType === 'MASTER' && entry.retiredAt === undefined;
  return entries.filter(isMaster).map((trusted) => ({ node, trusted }));
}

function once<K, V>(known: Map<K, Promise<V>>, key: K, make: () => Promise<V>): Promise<V> {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

/** Faults of other nodes do not matter here. */
async function ignoringFaults<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isReadingFault(error) && error.code !== 'registry-unavailable') return undefined;
    throw error;
  }
}
