import { manifestPlaces } from '../../../src/discovery/crawl/places.ts';
import { identityOf } from '../../../src/protocol/identity.ts';
import { isJsonObject } from '../../../src/protocol/json.ts';
import type { ParticipantRecord } from '../../../src/protocol/registry-record.ts';
import type { Hit } from '../../../src/rules/hit.ts';
import { isSameValue } from '../../../src/rules/same-value.ts';
import type { CatalogContent } from '../../../src/rules/self-hosted/content.ts';
import { asSignpostError } from './errors.ts';
import { defaultRegistryName } from './registry.ts';
import type { TreeFault, VerifyTreeOptions } from './tree-report.ts';
import { openRegistry, type WalkedTree, walkTree } from './verify-tree.ts';

// The proof of a hit: the discovery service's answer, compared with the files that the provider has signed (self-hosted spec: Authentication). It
// names the files, so that anybody can check it again with other software.

export interface Proof {
  /**
   * `proven`: the provider's signed files say the same. `differs`: they are valid, but differ. `broken`: a signature, digest or version is invalid.
   * `unreachable`: they could not be read. `unprovable`: the provider publishes through a catalog service, and signs no files.
   */
  status: 'proven' | 'differs' | 'broken' | 'unreachable' | 'unprovable';
  reason: string;
  node?: string;
  catalogId: string;
  resourceId: string;
  version?: number;
  /** The files that were read, in the order of the chain: manifest, Subscriber record, index, baseline, changes. */
  files: ProofFile[];
  /** Paths in the hit whose values differ from the files. */
  differences: string[];
  /** Ids of the hit's offers that are not in the files of its catalog. They may be in another catalog of the provider. */
  otherOffers: string[];
}

export interface ProofFile {
  document: string;
  url: string;
  /** As declared by the document that refers to it. */
  digest?: string;
}

/** Proves hits. A prover caches the catalogs that it has read: make a new one for each answer. */
export type Prover = (hit: Hit) => Promise<Proof>;

export function createProver(options: Omit<VerifyTreeOptions, 'node'>): Prover {
  const registry = openRegistry(options);
  const walks = new Map<string, Promise<NodeFiles>>();
  const read = (node: string, catalogId: string) => {
    const name = JSON.stringify([node, catalogId]);
    const known = walks.get(name) ?? readFiles({ ...options, registry }, node, catalogId);
    walks.set(name, known);
    return known;
  };
  return async (hit) => {
    const { id: catalogId, bppId } = hit.catalog;
    const about = { catalogId, resourceId: hit.resource.id };
    const nothing = { ...about, files: [], differences: [], otherOffers: [] };
    if (bppId === undefined)
      return { ...unprovable('The answer does not name the node that publishes it.'), ...nothing };
    const { problem, walked } = await read(bppId, catalogId);
    const known = { ...nothing, node: bppId, files: walked?.files ?? [] };
    if (problem) return { ...problem, ...known };
    const { content } = walked ?? {};
    return content
      ? { ...known, version: content.version, ...compare(hit, content) }
      : { ...noFiles, ...known };
  };
}

type Problem = Pick<Proof, 'status' | 'reason'>;

interface NodeFiles {
  problem?: Problem;
  walked?: WalkedTree;
}

const unprovable = (reason: string): Problem => ({ status: 'unprovable', reason });

const noFiles = unprovable(
  'Relayed by a catalog service and not provable: its provider has not signed a file of this catalog.',
);

async function readFiles(
  options: VerifyTreeOptions & { registry: Exclude<VerifyTreeOptions['registry'], string> },
  node: string,
  catalogId: string,
): Promise<NodeFiles> {
  const identity = identityOf(node, options.registryName ?? defaultRegistryName);
  const records = await options.registry.findSubscriber(identity).catch((error: unknown) => {
    throw asSignpostError(error);
  });
  if (records.length === 0)
    return { problem: unprovable('The registry does not know the node that publishes it.') };
  const walks: WalkedTree[] = [];
  const addresses = records.map(({ url }) => url);
  for (const place of manifestPlaces(identity, addresses)) {
    walks.push(await walkTree(place, { ...options, node }, catalogId));
    // Tries the next place only if a host answers that it has no manifest: any other failure may be temporary.
    if (!walks.at(-1)?.report.faults.some(isNoManifest)) break;
  }
  const walked = walks.find(({ files }) => files.length > 0);
  if (!walked) return { problem: explainAbsence(records, walks) };
  if (walked.content) return { walked };
  const { catalogs, faults } = walked.report;
  const [fault] = faults;
  if (fault === undefined)
    return catalogs.length > 0
      ? { problem: { status: 'differs', reason: 'The provider has retired this catalog.' }, walked }
      : { walked };
  return { problem: { status: isAbsence(fault) ? 'unreachable' : 'broken', reason: fault.message }, walked };
}

/** The host answers, but has no manifest. */
const isNoManifest = ({ code }: TreeFault) => code === 'manifest-missing';
const isAbsence = ({ code }: TreeFault) => code === 'unreachable' || code === 'file-missing';

/** A node that signs no files has no manifest, or not even a host. A registered host that does not answer may have one. */
function explainAbsence(records: readonly ParticipantRecord[], walks: readonly WalkedTree[]): Problem {
  const hasHost = records.some(
    ({ url, catalogIndexUrls }) => url !== undefined || catalogIndexUrls.length > 0,
  );
  const unread = walks.flatMap(({ report }) => report.faults).find((fault) => !isNoManifest(fault));
  return hasHost && unread ? { status: 'unreachable', reason: unread.message } : noFiles;
}

function compare(hit: Hit, content: CatalogContent): Problem & Pick<Proof, 'differences' | 'otherOffers'> {
  const { id } = hit.resource;
  const file = content.resources.get(id);
  if (!file)
    return {
      ...{ status: 'differs', reason: `The signed files of the catalog have no resource ${id}.` },
      ...{ differences: ['resource'], otherOffers: [] },
    };
  const inherits = content.directives.has(id);
  const known = hit.offers.filter((offer) => content.offers.has(offer.id));
  const differing = findDifferences('resource', hit.resource, file);
  const inherited = differing.filter(({ isMissing }) => inherits && isMissing);
  const differences = [
    ...differing.filter((one) => !inherited.includes(one)),
    ...known.flatMap((offer) => findDifferences(`offer ${offer.id}`, offer, content.offers.get(offer.id))),
  ].map(({ path }) => path);
  const otherOffers = hit.offers.filter((offer) => !content.offers.has(offer.id)).map((offer) => offer.id);
  const holds = differences.length === 0;
  const note =
    inherited.length === 0 ? '' : ` ${notCompared} ${inherited.map(({ path }) => path).join(', ')}.`;
  return {
    status: holds ? 'proven' : 'differs',
    reason: `The provider's signed files say ${holds ? 'the same' : 'something else'}.${note}`,
    ...{ differences, otherOffers },
  };
}

/** The files of a MASTER catalog may be another node's, so they are not read. */
const notCompared = 'Not compared, because it comes from a MASTER catalog:';

/** Every member of a hit must be in the files. The files may have more: a discovery service may omit members (strict form). */
function findDifferences(
  path: string,
  shown: unknown,
  signed: unknown,
): { path: string; isMissing: boolean }[] {
  if (isSameValue(shown, signed)) return [];
  if (!isJsonObject(shown) || !isJsonObject(signed)) return [{ path, isMissing: signed === undefined }];
  return Object.keys(shown).flatMap((name) =>
    findDifferences(`${path}.${name}`, shown[name], Object.hasOwn(signed, name) ? signed[name] : undefined),
  );
}
