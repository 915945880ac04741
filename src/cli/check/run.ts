import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { readTroubles } from '../../delivery/troubles.ts';
import type { Finding } from '../../discovery/inspect/findings.ts';
import { identityOf } from '../../protocol/identity.ts';
import { spellTrouble } from '../../rules/troubles.ts';
import { describeDifference, maintainIndex } from '../../search/port.ts';
import { listActive, listMissedPushes } from '../../storage/catalog/consistency.ts';
import { type CatalogStatus, listCrawledBehind, listCrawledCatalogs } from '../../storage/crawl/status.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { listFeedStates } from '../../storage/feeds/feeds.ts';
import { type CommandContext, CommandError, counted, withProgress } from '../command.ts';
import { withDatabase, withDatabaseAt } from '../database.ts';
import { verifyPlace } from '../verify/run.ts';
import { compareCopies, compareFeeds, type Sides } from './compare-copies.ts';
import {
  crawledBehind,
  type Difference,
  groupByCause,
  isInBackoff,
  type Look,
  missedPush,
  type Suspect,
} from './difference.ts';

export interface CheckOptions {
  discoveryDatabase?: string;
  tree?: string[];
  key?: string[];
  index: boolean;
  wait: number;
}

const maxListed = 10_000;
/** Number of comparisons. A difference counts if every comparison finds it and there was no progress between the last two. */
const looks = 4;

interface Checked {
  catalogs: number;
  documents: number;
  files: number;
  /** Failed pushes that will be tried again: their subscribers have not missed anything yet. */
  waitingPushes: number;
}

export async function check(options: CheckOptions, context: CommandContext): Promise<void> {
  const checked: Checked = { catalogs: 0, documents: 0, files: 0, waitingPushes: 0 };
  const differences = await withDatabase(context, (catalogs, config) => {
    const compare = async (index: Database) => {
      const parts = { catalogs, index, config, options, checked };
      const found = [
        ...(await listTroubles(parts)),
        ...(await withProgress(context, 'comparing', () => findLasting(parts))),
      ];
      if (!options.index) return found;
      return [...found, ...(await withProgress(context, 'reading the index', () => checkLists(parts)))];
    };
    const { discoveryDatabase: url } = options;
    return url === undefined ? compare(catalogs) : withDatabaseAt(url, context, compare);
  });
  if (context.json) context.print(JSON.stringify({ checked, differences }, null, 2));
  else for (const { message } of differences) context.print(message);
  const held = `Compared ${counted(checked.catalogs, 'catalog')} of the catalog service, ${counted(checked.files, 'published document')} and ${counted(checked.documents, 'indexed document')}`;
  if (differences.length > 0)
    throw new CommandError(`${held}: ${counted(differences.length, 'difference')}.`);
  if (options.index && Object.values(checked).every((count) => count === 0))
    throw new CommandError(
      'There is nothing to compare: no catalog, no published file, no indexed document. DATABASE_URL and DATA_DIR say where to look.',
    );
  const { waitingPushes: waiting } = checked;
  const waits = waiting > 0 ? ` Pushes that failed and will be tried again: ${waiting}.` : '';
  context.note(`${held}: no difference.${waits}`);
}

interface Parts {
  catalogs: Database;
  index: Database;
  config: Config;
  options: CheckOptions;
  checked: Checked;
}

async function listTroubles({ catalogs, index }: Parts): Promise<Difference[]> {
  const databases = [...new Set([catalogs, index])];
  const troubles = await Promise.all(databases.map((database) => readTroubles(database, new Date())));
  return troubles.flat().map((trouble) => ({ kind: trouble.kind, message: spellTrouble(trouble) }));
}

async function findLasting(parts: Parts): Promise<Difference[]> {
  const look = createLook(parts);
  let suspects = await look();
  for (let again = 1; suspects.length > 0 && again < looks; again++) {
    await delay((parts.options.wait * 1_000) / (looks - 1));
    const before = new Map(suspects.map((suspect) => [suspect.name, suspect.progress]));
    const ids = [...new Set(suspects.flatMap(({ catalogId }) => catalogId ?? []))];
    const still = (await look(ids)).filter(({ name }) => before.has(name));
    // Before the last comparison, a difference may make progress. Work that has stopped meanwhile counts as a difference, too.
    const isLast = again === looks - 1;
    suspects = still.filter(({ name, progress }) => !isLast || before.get(name) === progress);
  }
  return groupByCause(suspects);
}

function createLook({ catalogs, index, config, options, checked }: Parts): Look {
  const service = identityOf(config.CATALOG_ID, config.REGISTRY_NAME);
  return async (ids) => {
    const isFirst = ids === undefined;
    const feeds = (await listFeedStates(index)).filter((feed) => feed.service === service);
    const onCatalogs = (count: number) => {
      if (isFirst) checked.catalogs += count;
    };
    const active = await listActive(
      catalogs,
      feeds.flatMap(({ subscriptionId }) => subscriptionId ?? []),
    );
    const sides: Sides = { catalogs, index, service, feeds, active, onCatalogs };
    const missed = await listMissedPushes(catalogs, { ids, limit: maxListed });
    const at = new Date();
    const waiting = missed.filter((push) => isInBackoff(push, at));
    const lost = missed.filter((push) => !isInBackoff(push, at));
    if (isFirst) checked.waitingPushes = waiting.length;
    const subscribers = [...active.values()];
    const behind = new Set(
      [...lost, ...waiting.filter(({ subscriber }) => subscribers.includes(subscriber))].map(({ id }) => id),
    );
    // A copy is behind while its push waits. A lost push is reported already, with both versions.
    const copies = (await compareCopies(sides, ids)).filter(
      ({ kind, catalogId = '' }) => kind === 'catalog-rows' || !behind.has(catalogId),
    );
    const crawled = (await listCrawledBehind(index, { ids, limit: maxListed })).map(crawledBehind);
    const trees: Suspect[] = [];
    for (const place of await findTrees(config, options)) {
      const tree = await compareTree(place, { index, config, keys: options.key });
      if (isFirst) checked.files += tree.documents;
      trees.push(...tree.suspects);
    }
    return [...compareFeeds(sides), ...lost.map(missedPush), ...copies, ...crawled, ...trees];
  };
}

async function findTrees(config: Config, { tree }: CheckOptions): Promise<string[]> {
  if (tree) return tree;
  const published = await stat(join(config.publisherDir, 'public', 'index')).catch(() => undefined);
  return published ? [config.publisherDir] : [];
}

/** Compares each slice in one snapshot, so that concurrent writes are not differences. */
async function checkLists({ index, config, checked }: Parts): Promise<Difference[]> {
  const differences: Difference[] = [];
  const maintained = maintainIndex(index, undefined, config);
  const compared = maintained.check({
    onDifference(each) {
      if (differences.length >= maxListed) return;
      const message = `the index differs from its documents: ${describeDifference(each)}`;
      differences.push({ kind: 'index', message });
    },
  });
  const { documents } = await compared.finally(maintained.close);
  checked.documents = documents;
  return differences;
}

// Checks the files of a node: whether each is valid, and whether the index has the versions in them.

interface TreeTools {
  index: Queryable;
  config: Config;
  keys?: readonly string[];
}

/** Files that cannot be read or verified at all, for example without their registry, are one difference. The other comparisons still run. */
async function compareTree(place: string, { index, config, keys }: TreeTools) {
  const findings: Finding[] = [];
  try {
    const node = await verifyPlace(place, { config, keys, onFinding: (finding) => findings.push(finding) });
    const crawled = new Map((await listCrawledCatalogs(index, node)).map((row) => [row.catalogId, row]));
    const suspects = findings.flatMap((finding) => compareFile(finding, node, crawled) ?? []);
    return { suspects, documents: findings.length };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const suspect: Suspect = {
      ...{ kind: 'file', name: `files ${place}`, progress: error.message },
      message: `the published files of ${place} were not compared. ${error.message}`,
    };
    return { suspects: [suspect], documents: 0 };
  }
}

function compareFile(finding: Finding, node: string, crawled: CrawledVersions): Suspect | undefined {
  const { document, catalogId, url } = finding;
  if (finding.kind === 'fault') {
    const { message, code } = finding;
    const name = [document, catalogId, url].filter((part) => part !== undefined).join(' ');
    return {
      ...{ kind: 'file', catalogId, name: `file ${node} ${name}`, progress: code },
      message: `published files of ${node}: ${name}: ${message} (${code})`,
    };
  }
  // The index has nothing of a node that this discovery service does not crawl.
  if (document !== 'catalog' || finding.kind !== 'holds' || catalogId === undefined || crawled.size === 0)
    return undefined;
  const { version } = finding;
  const indexed = crawled.get(catalogId)?.version ?? null;
  if (version === undefined || indexed === version) return undefined;
  return {
    ...{ kind: 'file-behind', catalogId, name: `tree ${node} ${catalogId}`, progress: String(indexed) },
    message: `catalog ${catalogId} of ${node} is at version ${version} in the published files, and ${indexed === null ? 'not in the index' : `at version ${indexed} in the index`}.`,
  };
}

type CrawledVersions = ReadonlyMap<string, CatalogStatus>;
