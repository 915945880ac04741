import type { IndexEntry, MasterDependency } from '../../protocol/signed-files.ts';
import { networksMeet } from '../../rules/extends.ts';
import { judgeEntry } from '../../rules/self-hosted/acceptance.ts';
import {
  findIndexOwners,
  findMasterEntries,
  isAnyMasterHere,
  type MasterEntry,
  recheckMastersOf,
  searchForMasters,
  wantMastersOf,
} from '../../storage/crawl/masters.ts';
import { recordTarget } from '../../storage/crawl/targets.ts';
import { settlePrecedence } from '../../storage/feeds/precedence.ts';
import { type EntryWork, postpone } from './entry-work.ts';
import { readHint } from './read-index.ts';
import { CrawlFault, isReadingFault, type ReadingFault } from './reasons.ts';
import { recheckSpacingMs } from './schedule.ts';

// The MASTER catalogs in an entry's dependencies (self-hosted spec: Entry, dependencies.masters), searched in four places: the node's indexes;
// the hinted index; the verified indexes of all registered nodes; catalogs from catalog services.

interface DeclaredMasters {
  owners: ReadonlyMap<string, string>;
  /** `coming`: known masters that are not read yet; `unknown`: masters that nobody has. */
  coming: string[];
  unknown: string[];
  faults: CrawlFault[];
}

export async function findDeclaredMasters(work: EntryWork, entry: IndexEntry): Promise<DeclaredMasters> {
  const dependencies = (entry.catalogType === 'REGULAR' && entry.dependencies?.masters) || [];
  const owners = new Map<string, string>();
  const masters = { owners, coming: [] as string[], unknown: [] as string[], faults: [] as CrawlFault[] };
  if (dependencies.length === 0) return masters;
  const { database } = work.context;
  const ids = dependencies.map(({ catalogId }) => catalogId);
  const entries = await findMasterEntries(database, ids);
  const urls = dependencies.map(({ indexUrl }) => indexUrl).filter((url) => url !== undefined);
  const known = { entries, indexes: await findIndexOwners(database, urls) };
  for (const dependency of dependencies) {
    const { catalogId } = dependency;
    const { found, fault } = await findDeclared(work, entry, dependency, known);
    if (fault) masters.faults.push(fault);
    if (found) owners.set(catalogId, found.node);
    if (found === undefined) masters.unknown.push(catalogId);
    else if (!found.isHere) masters.coming.push(catalogId);
  }
  return masters;
}

type Found = Pick<MasterEntry, 'node' | 'isHere'>;

async function findDeclared(
  work: EntryWork,
  { networkIds = [] }: IndexEntry,
  { catalogId, indexUrl }: MasterDependency,
  { entries, indexes }: { entries: MasterEntry[]; indexes: { url: string; nodeId: number }[] },
): Promise<{ found?: Found; fault?: CrawlFault }> {
  const near = entries.filter(
    (master) => master.catalogId === catalogId && networksMeet(master.networkIds, networkIds),
  );
  const own = near.find(({ nodeId }) => nodeId === work.row.node_id);
  if (own) return { found: own };
  if (indexUrl === undefined) return { found: near[0] };
  const owners = indexes.filter(({ url }) => url === indexUrl).map(({ nodeId }) => nodeId);
  const hinted = near.find(({ nodeId }) => owners.includes(nodeId));
  if (hinted) return { found: hinted };
  try {
    if (owners.length > 0) throw notThere(indexUrl, catalogId);
    return { found: await followHint(work, { catalogId, indexUrl, networkIds }) };
  } catch (error) {
    if (!isReadingFault(error)) throw error;
    const told = `The hint for the MASTER catalog ${catalogId} cannot be followed: ${error.message}`;
    const fault = new CrawlFault('master-hint-failed', told, { url: indexUrl, cause: error });
    return { found: near[0], fault };
  }
}

/** The hinted index is crawled like any other, and counts only then. */
async function followHint(
  { context, signal }: EntryWork,
  { catalogId, indexUrl, networkIds }: { catalogId: string; indexUrl: string; networkIds: readonly string[] },
): Promise<Found> {
  const { database, hints, policy, reader } = context;
  const index = await hints.find(indexUrl, () => readHint(reader, indexUrl, signal).catch(asValue));
  if (index === undefined) throw notThere(indexUrl, catalogId);
  if (isReadingFault(index)) throw index;
  const { node: identity, host, networkMemberships } = index;
  const master = index.masters.find(
    (entry) => entry.catalogId === catalogId && networksMeet(entry.networkIds ?? [], networkIds),
  );
  if (master === undefined) throw notThere(indexUrl, catalogId);
  const acceptance = judgeEntry(master, { identity, networkMemberships }, policy);
  if (acceptance.kind !== 'accepted') throw new CrawlFault(acceptance.kind, acceptance.reason);
  await database.transaction(async (tx) => {
    await settlePrecedence(tx, await wantMastersOf(tx, [{ node: identity, host }]));
    await recheckMastersOf(tx, identity, recheckSpacingMs);
  });
  return { node: identity, isHere: false };
}

/** Failures of hints are cached, too, because many entries may have the same hint. */
function asValue(error: unknown): ReadingFault {
  if (isReadingFault(error)) return error;
  throw error;
}

function notThere(url: string, catalogId: string): CrawlFault {
  const message = `The index at ${url} has no MASTER catalog ${catalogId} of a shared network.`;
  return new CrawlFault('file-missing', message, { url });
}

// A REGULAR catalog without its masters waits: it is tried again now and then, and as soon as one of them arrives.

/** Whether fetching the files now is useless: declared masters are still to come, or none of the resources that it waits for has arrived. */
export async function mustWait({ context, row }: EntryWork, { coming, owners, unknown }: DeclaredMasters) {
  const names = row.waiting_for ?? [];
  if (coming.length > 0) return names.length > 0 || row.version === null;
  const isDeclared = (name: string) => owners.has(name) || unknown.includes(name);
  return !names.every(isDeclared) && !(await isAnyMasterHere(context.database, names));
}

/** @param missing the master resources that no MASTER catalog has; absent if its files were not read again */
export async function waitForMasters(
  work: EntryWork,
  entry: IndexEntry,
  { coming, unknown, faults }: DeclaredMasters,
  missing: readonly string[] = work.row.waiting_for ?? [],
): Promise<void> {
  const { context, row } = work;
  const names = [...new Set([...missing, ...coming, ...unknown])].slice(0, maxNames);
  if (names.some((name) => !row.waiting_for?.includes(name))) {
    // Checks again at once: a master may have been stored before this wait was recorded.
    const note = { waiting_for: names };
    return context.database.transaction((tx) => recordTarget(tx, work.lease, row, note, 0));
  }
  if (names.some((name) => !coming.includes(name))) {
    const networkIds = networksToSearch(entry, row.network_memberships, context.policy.networkIds);
    await context.database.transaction((tx) => searchForMasters(tx, networkIds));
  }
  const shown = names.slice(0, maxShown).join(', ');
  const more = names.length > maxShown ? ` and ${names.length - maxShown} more` : '';
  const message = `${entry.catalogId} extends resources that are in no MASTER catalog known here: ${shown}${more}.`;
  await postpone(work, [new CrawlFault('waiting-for-master', message), ...faults], { waiting_for: names });
}

/** Enough for a wake-up by one of them. */
const maxNames = 100;
const maxShown = 3;

/** Networks in both the entry and the node's registry record, except ours, where everybody is crawled anyway. */
function networksToSearch(
  { networkIds = [] }: IndexEntry,
  memberships: readonly string[],
  ours: readonly string[],
): string[] {
  const named = networkIds.length === 0 ? memberships : memberships.filter((id) => networkIds.includes(id));
  return named.filter((networkId) => !ours.includes(networkId));
}
