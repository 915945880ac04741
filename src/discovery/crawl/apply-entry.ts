import type { ReceivedCatalog } from '../../protocol/catalog.ts';
import { type CatalogLevel, catalogOf } from '../../rules/self-hosted/content.ts';
import type { Extender } from '../../rules/self-hosted/extend.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { holdLease } from '../../storage/crawl-hosts.ts';
import { writeLog } from '../../storage/crawl-log.ts';
import { lockArrivals } from '../../storage/crawl-masters.ts';
import { queueRebuild } from '../../storage/crawl-rebuilds.ts';
import {
  countOtherResources,
  recordTarget,
  type TargetChanges,
  type TargetRow,
  wakeWaiting,
} from '../../storage/crawl-targets.ts';
import type { Transaction } from '../../storage/database.ts';
import { countDocuments } from '../../storage/discovery-documents.ts';
import { lockPrecedence, settlePrecedence } from '../../storage/discovery-sync.ts';
import { applyCatalog, type IncomingCatalog } from '../ingest.ts';
import {
  type Applicable,
  type Assembly,
  assembleReading,
  overriddenFault,
  recordExtensions,
} from './assemble.ts';
import { type EntryWork, linesOf } from './crawl-entry.ts';
import { CrawlFault } from './reasons.ts';
import { nextAttempt } from './schedule.ts';

/** Under which the index knows what was crawled. */
export const nodeSource = 'node';

/**
 * Content and cursor move in one transaction: the index never has a part of a file, and nothing is applied twice. Returns the master resources
 * that are missing, where there are some: then nothing has happened.
 */
export async function applyReading(
  work: EntryWork,
  trusted: TrustedEntry,
  reading: Applicable,
  declared: Extender['declared'],
): Promise<string[]> {
  const { context, row } = work;
  const { networkIds = [] } = trusted.entry;
  const extender: Extender = { node: row.node, networkIds, declared };
  const missing = await context.database.transaction(async (tx) => {
    await holdLease(tx, work.lease);
    await lockPrecedence(tx, [{ owner: row.node, id: row.catalog_id }]);
    const checker = context.reader.checker();
    const assembly = await assembleReading(tx, row.id, reading, { extender, checker });
    if (assembly.kind === 'waiting') return assembly.missing;
    await apply(tx, work, trusted, assembly);
    return [];
  });
  if (missing.length === 0) {
    context.metrics
      .counter('signpost_crawl_applied_total', 'Catalogs that the crawler brought up to date')
      .inc();
  }
  return missing;
}

async function apply(
  tx: Transaction,
  work: EntryWork,
  trusted: TrustedEntry,
  { reading, extended }: Extract<Assembly, { kind: 'assembled' }>,
): Promise<void> {
  const { context, lease, row } = work;
  const now = context.now();
  const applied = await applyCatalog(tx, incomingOf(row, trusted, reading), now);
  await recordExtensions(tx, row, reading, extended);
  const resources = await judgeSize(tx, row, applied.key, context.config.CRAWL_MAX_RESOURCES);
  const dueAt = reading.complete ? null : nextAttempt(row.failures + 1, { now, random: Math.random() });
  const changes = { ...cursorOf(row, trusted, reading), resources };
  await recordTarget(tx, lease, row, changes, dueAt);
  await settlePrecedence(tx, [{ owner: row.node, id: row.catalog_id }]);
  const faults = [...reading.faults, ...overriddenFault(row.catalog_id, extended)];
  await writeLog(tx, linesOf(work, faults), now);
  if (trusted.entry.catalogType !== 'MASTER') return;
  await queueRebuild(tx, applied.key);
  await lockArrivals(tx);
  await wakeWaiting(tx, lease, [row.catalog_id, ...resourceIdsOf(reading)], now);
}

function resourceIdsOf(reading: Applicable): Iterable<string> {
  if (reading.kind === 'nothing') return [];
  return (reading.kind === 'full' ? reading.content.resources : reading.patch.resources.upserts).keys();
}

function incomingOf(row: TargetRow, { entry }: TrustedEntry, reading: Applicable): IncomingCatalog {
  const isActive = { isActive: entry.isActive };
  const common = {
    ...{ source: nodeSource, owner: row.node, type: entry.catalogType },
    networks: entry.networkIds ?? [],
  };
  switch (reading.kind) {
    case 'full': {
      const { members } = reading.content;
      const catalog = { ...catalogOf(reading.content), ...ownerOf(row, members), ...isActive };
      return { ...common, catalog, mode: 'FULL' };
    }
    case 'patch': {
      const { members, resources, offers } = reading.patch;
      const catalog = {
        ...{ ...members, id: row.catalog_id, ...isActive },
        ...{ resources: [...resources.upserts.values()], offers: [...offers.upserts.values()] },
      } as ReceivedCatalog;
      const removals = { resources: [...resources.removals], offers: [...offers.removals] };
      return { ...common, catalog, mode: 'MERGE', removals };
    }
    case 'nothing':
      return { ...common, catalog: { id: row.catalog_id, ...isActive } as ReceivedCatalog, mode: 'MERGE' };
  }
}

/** Whom to turn to with an order, where the catalog itself does not say. */
function ownerOf(
  { subscriber_id: bppId, url: bppUri }: TargetRow,
  members: CatalogLevel,
): Partial<CatalogLevel> {
  return {
    ...(members.bppId === undefined && bppId !== null && { bppId }),
    ...(members.bppUri === undefined && bppUri !== null && { bppUri }),
  };
}

/** Where the way ends before the announced version, what was read is kept, but the entry is not dealt with. */
function cursorOf(row: TargetRow, { entry, signedBy }: TrustedEntry, reading: Applicable): TargetChanges {
  const reached: TargetChanges =
    reading.kind === 'full'
      ? { version: reading.content.version, content_keys: reading.keys, unverified_since: null }
      : reading.kind === 'patch'
        ? {
            version: reading.patch.toVersion,
            content_keys: [...new Set([...row.content_keys, ...reading.keys])],
          }
        : {};
  const [fault] = reading.faults;
  const settled: TargetChanges = reading.complete
    ? { settled_digest: row.digest, applied_entry_version: entry.entryVersion, failures: 0, last_code: null }
    : {
        applied_entry_version: row.applied_entry_version ?? 0,
        failures: row.failures + 1,
        last_code: fault?.code ?? null,
      };
  return {
    ...reached,
    ...settled,
    ...{
      entry_key: signedBy,
      relevant: true,
      waiting_for: null,
      applied_master: entry.catalogType === 'MASTER',
    },
  };
}

/** Throws when the catalog would be empty, or the node have too much: then nothing of it is applied. */
async function judgeSize(
  tx: Transaction,
  row: TargetRow,
  key: number,
  maxResources: number,
): Promise<number> {
  const { resources, offers } = await countDocuments(tx, key);
  if (resources + offers === 0) {
    throw new TrustFault('change', 'empty-catalog', `Nothing would be left of ${row.catalog_id}.`);
  }
  const all = resources + (await countOtherResources(tx, row));
  if (all > maxResources) {
    throw new CrawlFault('too-many-resources', `${row.node} has ${all} resources; ${maxResources} are kept.`);
  }
  return resources;
}
