import { chooseEntries } from '../../storage/crawl/indexes.ts';
import {
  forgetUnlisted,
  moveNode,
  type NodeRow,
  postponeNode,
  recordNode,
} from '../../storage/crawl/nodes.ts';
import { judgeEntriesAgain } from '../../storage/crawl/targets.ts';
import { settlePrecedence } from '../../storage/feeds/precedence.ts';
import type { HostedWork } from './entry-work.ts';
import { hostOf } from './fetch.ts';
import { manifestUrlsAt } from './places.ts';
import { findNodeRecord, type NodeQuestion, type NodeRecord, readNode } from './read-node.ts';
import { asReadingFault, CrawlFault, passes, type ReadingFault } from './reasons.ts';
import { nextNodeAttemptMs, nextPollMs } from './schedule.ts';
import { pollingOf } from './settings.ts';
import { logFaults } from './tell.ts';

/** Finds the indexes of a node: polls manifest and record like indexes, and sooner after a failed verification. */
export async function crawlNode(work: HostedWork<NodeRow>): Promise<ReadingFault | undefined> {
  const { context, lease, row, signal } = work;
  const { database, config, reader, now } = context;
  const polling = pollingOf(config);
  let found: NodeRecord | undefined;
  try {
    const question = questionOf(row, now(), signal);
    found = await findNodeRecord(reader, question);
    const host = hostOf(found.places[0]);
    if (host !== row.host) {
      await database.transaction((tx) => moveNode(tx, lease, row, host));
      return undefined;
    }
    const read = await readNode(reader, question, found);
    const isUnchanged = read.indexUrls === undefined;
    const nextUpdate = isUnchanged ? (row.next_update ?? undefined) : read.nextUpdate;
    await record(work, { ...read, nextUpdate });
    return undefined;
  } catch (error) {
    const fault = asReadingFault(error, signal);
    const random = Math.random();
    if (hostsNothing(row, found, fault)) {
      const dueInMs = nextPollMs(undefined, polling, { now: now(), random });
      await database.transaction((tx) => postponeNode(tx, lease, row, { failures: 0, dueInMs }));
      return undefined;
    }
    const failures = row.failures + 1;
    const dueInMs = nextNodeAttemptMs(failures, passes(fault), polling, random);
    await database.transaction(async (tx) => {
      await postponeNode(tx, lease, row, { failures, dueInMs });
      await logFaults(tx, context, { node: row.node }, [fault]);
    });
    return fault;
  }
}

/**
 * Not every participant publishes files, and a new publisher has a record before its first catalog: that is no fault. But a manifest is missing if
 * the registry's record lists an index ("the only pointer a crawler has", self-hosted spec: Subscriber record pointer).
 */
function hostsNothing(row: NodeRow, found: NodeRecord | undefined, fault: ReadingFault): boolean {
  if (found === undefined || row.manifest_url !== null) return false;
  if (fault.code === 'no-index-urls') return true;
  if (found.records.some(({ catalogIndexUrls }) => catalogIndexUrls.length > 0)) return false;
  return fault.code === 'manifest-missing' || isAtNamespace(found, fault);
}

/** It has no address, or nothing is there, and its namespace is the name of a host without a manifest. */
function isAtNamespace({ places, url }: NodeRecord, fault: ReadingFault): boolean {
  const namespace = places.at(-1);
  if (namespace === undefined || (url !== undefined && places.length === 1)) return false;
  return fault instanceof CrawlFault && manifestUrlsAt(namespace).some((asked) => asked === fault.url);
}

/** After its next_update, a manifest is fetched unconditionally: its host may be wrong about changes. */
function questionOf(row: NodeRow, now: Date, signal: AbortSignal): NodeQuestion {
  const isStale = row.next_update !== null && row.next_update <= now;
  const { manifest_url: url, manifest_etag: etag, manifest_modified: modified } = row;
  return {
    identity: row.node,
    configuredUrl: row.configured_url ?? undefined,
    manifest: url === null || isStale ? undefined : { url, etag, modified },
    digestsAt: row.digests_at ?? undefined,
    signal,
  };
}

async function record({ context, lease, row }: HostedWork<NodeRow>, read: Parameters<typeof recordNode>[3]) {
  const { database, config, policy, now } = context;
  const polling = pollingOf(config);
  const at = now();
  const dueInMs = nextPollMs(read.nextUpdate, polling, { now: at, random: Math.random() });
  await database.transaction(async (tx) => {
    const unlisted = await recordNode(tx, lease, row, read, dueInMs);
    const faults = unlisted.map((url) => {
      const message = `The record of ${row.node} does not list ${url} any more.`;
      return new CrawlFault('index-unlisted', message, { url });
    });
    if (read.nextUpdate && read.nextUpdate <= at) {
      const message = `The manifest or the record of ${row.node} has been stale since ${read.nextUpdate.toISOString()}.`;
      faults.push(new CrawlFault('stale', message));
    }
    const [before, after] = [row.network_memberships, read.networkMemberships];
    const isSame = before.length === after.length && before.every((id) => after.includes(id));
    if (policy.enforceMembership && !isSame) await judgeEntriesAgain(tx, row.id);
    if (unlisted.length > 0) {
      const hideUnconfirmed = config.UNCONFIRMED === 'hide';
      const { absent } = await chooseEntries(tx, row.id, { now: at, hideUnconfirmed });
      await forgetUnlisted(tx, row.id);
      const gone = absent.map((id) => ({ owner: row.node, id }));
      await settlePrecedence(tx, gone);
    }
    await logFaults(tx, context, { node: row.node }, faults);
  });
}
