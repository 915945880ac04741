import { createFetcher } from '../../discovery/crawl/fetch.ts';
import { readDomain } from '../../discovery/crawl/read-node.ts';
import type { Reader } from '../../discovery/crawl/reader.ts';
import { isReadingFault, type ReadingFault } from '../../discovery/crawl/reasons.ts';
import { readerOf } from '../../discovery/crawl/settings.ts';
import { fault } from '../../discovery/inspect/findings.ts';
import { ProtocolError } from '../../protocol/errors.ts';
import { identityOf, isSubscriberId } from '../../protocol/identity.ts';
import {
  findHomeOfResource,
  findKnownCatalogs,
  type KnownCatalog,
  listCopies,
  listLoggedIssues,
  type PushedCopy,
} from '../../storage/console/subjects.ts';
import { listCrawledCatalogs } from '../../storage/crawl/status.ts';
import type { Database } from '../../storage/database.ts';
import type { ChainLink, Inspection, Issue } from '../answers/inspect.ts';
import type { ConsoleContext } from '../context.ts';
import { buildChain, judge, link, type SeenCatalog } from './chain.ts';
import { gatherIssues } from './issues.ts';
import { examinationOf, linkToIndex, recordFetches, type WalkTools, walkChain } from './self-hosted.ts';
import { findOwnCopy, linkCatalog, linkRegistration } from './through-service.ts';

// Explains why a node, a catalog or a resource can or cannot be found, link by link from the registry to the index.

/** Maximum of catalogs of a node that are walked; others are only listed. */
const maxCatalogsWalked = 20;
const maxCatalogsListed = 200;
const maxIssues = 500;
const inspectWithinMs = 30_000;

export async function inspect(
  context: ConsoleContext,
  question: { text: string; node?: string; network?: string },
): Promise<Inspection> {
  const tools = openTools(context);
  try {
    const subject = await findSubject({ ...tools, database: context.database }, question);
    if (subject.kind === 'unknown') return unknownSubject(question.text);
    if ('fault' in subject) return unreachableAddress(subject);
    return await inspectSubject(context, tools, subject, question.network);
  } catch (error) {
    if (tools.signal.aborted) throw tooSlow();
    if (!isReadingFault(error) || error.code !== 'registry-unavailable') throw error;
    throw new ProtocolError('NET_DOWNSTREAM_UNAVAILABLE', `The registry cannot be queried: ${error.message}`);
  }
}

export function openTools({ config, outside, now }: ConsoleContext): WalkTools {
  const registry = outside.freshRegistry();
  const { fetcher, fetches } = recordFetches(
    createFetcher({ client: outside.client, now, timeoutMs: config.CRAWL_FETCH_TIMEOUT_MS }),
    now,
  );
  const reader = readerOf(config, { fetcher, registry, checker: () => outside.schemas.checker() });
  return { reader, registry, fetches, signal: AbortSignal.timeout(inspectWithinMs) };
}

export function tooSlow(): ProtocolError {
  return new ProtocolError('NET_TIMEOUT', `The node did not answer within ${inspectWithinMs / 1000} s.`);
}

type KnownSubject = Extract<Subject, { node: string }>;

async function inspectSubject(
  context: ConsoleContext,
  tools: WalkTools,
  subject: KnownSubject,
  network: string | undefined,
): Promise<Inspection> {
  const { database } = context;
  const { kind, node, catalogId, resourceId } = subject;
  const known = await findKnownCatalogs(database, { catalogId, owner: node, limit: maxCatalogsListed });
  const throughService = known.filter(({ stored, indexed, isCrawled }) => stored || (indexed && !isCrawled));
  const isSelfHosted = throughService.length === 0 || known.some(({ isCrawled }) => isCrawled);
  const self = isSelfHosted ? await inspectFiles(context, tools, subject, known, network) : nothingSeen;
  const through = await inspectService(context, tools, throughService, { node, network });
  const chain = mergeChains(self.chain, through.chain);
  const logged = await listLoggedIssues(database, { node, catalogId, limit: maxIssues });
  const copies = [...self.copies, ...through.copies];
  return {
    ...{ kind, node, catalogId, resourceId },
    ...judge(chain, [...self.catalogs, ...through.catalogs]),
    chain,
    issues: gatherIssues(chain, logged, through.issues),
    copies: copies.map(({ discovery, version, state, acknowledgedAt }) => ({
      ...{ discovery, version, state, acknowledgedAt: acknowledgedAt?.toISOString() },
    })),
  };
}

interface Seen {
  chain: ChainLink[];
  catalogs: SeenCatalog[];
  issues: Issue[];
  copies: PushedCopy[];
}

const nothingSeen: Seen = { chain: [], catalogs: [], issues: [], copies: [] };

async function inspectFiles(
  context: ConsoleContext,
  tools: WalkTools,
  { node, address, catalogId }: KnownSubject,
  known: readonly KnownCatalog[],
  network: string | undefined,
): Promise<Seen> {
  const { database, config } = context;
  const patient = { identity: node, address, catalogId, maxCatalogs: maxCatalogsWalked };
  const { chain, findings } = await walkChain(examinationOf(context, tools, network), patient, tools);
  const walked = new Set([
    ...findings.flatMap((finding) => finding.catalogId ?? []),
    ...known.filter(({ isCrawled }) => isCrawled).map((one) => one.catalogId),
  ]);
  const crawled = await listCrawledCatalogs(database, node, [...walked]);
  const versions = new Map(
    findings.flatMap((finding) =>
      finding.kind === 'holds' && finding.catalogId && finding.version !== undefined
        ? [[finding.catalogId, finding.version] as const]
        : [],
    ),
  );
  const seen: Seen = { ...nothingSeen, chain: [...chain], catalogs: [], copies: [] };
  for (const id of walked) {
    const status = crawled.find((one) => one.catalogId === id);
    const held = known.find((one) => one.catalogId === id)?.indexed ?? null;
    const live = versions.get(id);
    seen.chain.push(linkToIndex(id, live, status, held));
    const { version = null, state = 'not read yet' } = status ?? {};
    const indexedVersion = version ?? undefined;
    seen.catalogs.push({ catalogId: id, source: 'crawl', indexedVersion, liveVersion: live });
    if (catalogId !== undefined)
      seen.copies.push({
        ...{ discovery: config.identities.discovery.id, version, state, lastError: null },
        acknowledgedAt: held && new Date(held.updatedAt),
      });
  }
  return seen;
}

async function inspectService(
  context: ConsoleContext,
  tools: WalkTools,
  catalogs: readonly KnownCatalog[],
  { node, network }: { node: string; network?: string },
): Promise<Seen> {
  if (catalogs.length === 0) return nothingSeen;
  const exam = examinationOf(context, tools, network);
  const seen: Seen = { chain: await linkRegistration(exam, node), catalogs: [], issues: [], copies: [] };
  for (const known of catalogs.slice(0, maxCatalogsWalked)) {
    const copies = await listCopies(context.database, known);
    const { chain, issues } = await linkCatalog(context, known, copies);
    seen.chain.push(...chain);
    seen.issues.push(...issues);
    if (catalogs.length === 1) seen.copies.push(...copies);
    const indexedVersion = findOwnCopy(context.config, copies)?.version ?? undefined;
    const { catalogId, stored } = known;
    seen.catalogs.push({ catalogId, source: 'service', indexedVersion, liveVersion: stored?.version });
  }
  return seen;
}

/** A publisher that uses both ways has one registry record. The links of each catalog are adjacent. */
function mergeChains(self: readonly ChainLink[], through: readonly ChainLink[]): ChainLink[] {
  const isTold = ({ link: name, catalogId }: ChainLink) =>
    self.some((each) => each.link === name && each.catalogId === catalogId);
  const chain = [...self, ...through.filter((each) => !isTold(each))];
  const order = [...new Set(chain.map(({ catalogId }) => catalogId))];
  return order.flatMap((id) => chain.filter(({ catalogId }) => catalogId === id));
}

function unknownSubject(text: string): Inspection {
  return {
    ...{ kind: 'unknown', verdict: 'not', chain: [], catalogs: [], issues: [], copies: [] },
    because: `There is no catalog, resource or node ${text} here.`,
    nextStep: 'Name a node by its domain or address, or a catalog or resource by its id.',
  };
}

function unreachableAddress({ address, fault: reason }: Extract<Subject, { fault: unknown }>): Inspection {
  const finding = fault({ document: 'manifest', url: address }, reason);
  const chain = [
    link('registry', 'unseen', 'The owner of this address is not known yet.'),
    ...buildChain([finding], new Map()),
  ];
  return {
    ...{ kind: 'node', chain, catalogs: [], issues: gatherIssues(chain, [], []), copies: [] },
    ...judge(chain, []),
  };
}

/** The subject of a query: a node by its name or address, a catalog, or a resource. */
type Subject =
  | {
      kind: 'node' | 'catalog' | 'resource';
      node: string;
      address?: string;
      catalogId?: string;
      resourceId?: string;
    }
  /** An address without a node, with the reason. */
  | { kind: 'node'; address: string; fault: ReadingFault }
  | { kind: 'unknown' };

async function findSubject(
  { database, reader, signal }: { database: Database; reader: Reader; signal: AbortSignal },
  { text, node }: { text: string; node?: string },
): Promise<Subject> {
  const owner = node === undefined ? undefined : identityOf(node, reader.registryName);
  if (/^https?:\/\//i.test(text)) return findByAddress(reader, text, signal);
  const [catalog] = await findKnownCatalogs(database, { catalogId: text, owner, limit: 1 });
  if (catalog) return { kind: 'catalog', node: catalog.owner, catalogId: catalog.catalogId };
  const home = await findHomeOfResource(database, text);
  if (home) return { kind: 'resource', node: home.owner, catalogId: home.catalogId, resourceId: text };
  // Unknown here, but perhaps listed by the node.
  if (owner !== undefined) return { kind: 'catalog', node: owner, catalogId: text };
  if (isSubscriberId(text) && /[./]/.test(text))
    return { kind: 'node', node: identityOf(text, reader.registryName) };
  return { kind: 'unknown' };
}

/** The manifest at an address names the node. Reading is free at the console, so the address may be anybody's. */
async function findByAddress(reader: Reader, address: string, signal: AbortSignal): Promise<Subject> {
  if (!URL.canParse(address)) return { kind: 'unknown' };
  try {
    const domain = await readDomain(reader, new URL(address).origin, { isOperators: false, signal });
    return { kind: 'node', node: identityOf(domain, reader.registryName), address };
  } catch (error) {
    if (isReadingFault(error)) return { kind: 'node', address, fault: error };
    throw error;
  }
}
