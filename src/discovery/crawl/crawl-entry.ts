import type { JsonObject } from '../../protocol/json.ts';
import { judgeEntry } from '../../rules/self-hosted/acceptance.ts';
import type { Cursor, Rollback } from '../../rules/self-hosted/reading-plan.ts';
import { claimedRecordId } from '../../rules/self-hosted/signer.ts';
import { type TrustedEntry, trustEntry } from '../../rules/self-hosted/trust-index.ts';
import { letArrivalsPass } from '../../storage/crawl/masters.ts';
import type { TargetRow } from '../../storage/crawl/targets.ts';
import type { ApplyCatalog } from './apply-entry.ts';
import { findDeclaredMasters, mustWait, waitForMasters } from './declared-masters.ts';
import { type EntryWork, postpone, settle } from './entry-work.ts';
import { readContent } from './read-content.ts';
import { crawledNode } from './read-node.ts';
import { findKeys } from './reader.ts';
import { asReadingFault, CrawlFault, type ReadingFault } from './reasons.ts';

// The entry stage (self-hosted spec: Discovery crawl order, 5; States and transitions). Cursor and content change together, after all checks.

export async function crawlEntry(work: EntryWork, apply: ApplyCatalog): Promise<ReadingFault | undefined> {
  try {
    await followEntry(work, await trustedEntry(work), apply);
    return undefined;
  } catch (error) {
    const fault = asReadingFault(error, work.signal);
    await postpone(work, [fault]);
    return fault;
  }
}

/** The entry was verified when its index was read; its key may have been revoked since. */
async function trustedEntry({ context: { reader }, row }: EntryWork): Promise<TrustedEntry> {
  const document = JSON.parse(row.document) as JsonObject;
  const node = crawledNode(reader, row);
  const keys = await findKeys(reader, node, [claimedRecordId(document)]);
  return trustEntry(document, { url: row.index_url, node, keys, limits: reader.limits });
}

async function followEntry(work: EntryWork, received: TrustedEntry, apply: ApplyCatalog): Promise<void> {
  const { context, row, signal } = work;
  const { reader, policy } = context;
  const { entry } = received;
  if (row.retired_at !== null || entry.retiredAt !== undefined) return retire(work, received);
  const { applied_entry_version: stored } = row;
  const { entryVersion: offered } = entry;
  if (stored !== null && offered < stored) return flagRollback(work, { of: 'entryVersion', stored, offered });

  const publisher = { identity: row.node, networkMemberships: row.network_memberships };
  const acceptance = judgeEntry(entry, publisher, policy);
  if (acceptance.kind !== 'accepted') {
    const fault = new CrawlFault(acceptance.kind, acceptance.reason);
    return settle(work, { relevant: false, applied_entry_version: offered }, [fault]);
  }
  const trusted = { ...received, entry: { ...entry, networkIds: acceptance.networkIds } };
  const cursor = cursorOf(row);
  if (cursor && row.applied_master !== (entry.catalogType === 'MASTER')) {
    const message = `${entry.catalogId} has become a ${entry.catalogType} catalog.`;
    return settle(work, {}, [new CrawlFault('type-changed', message)]);
  }
  if (row.waiting_for !== null) await letArrivalsPass(context.database);
  const masters = await findDeclaredMasters(work, entry);
  if (await mustWait(work, masters)) return waitForMasters(work, entry, masters);
  const reading = await readContent(reader, crawledNode(reader, row), trusted, cursor, signal);
  if (reading.kind === 'rollback') return flagRollback(work, reading.plan);
  if (reading.kind === 'nothing' && !reading.complete) return postpone(work, reading.faults);
  const isEarly = masters.coming.length > 0 && reading.content.directives.size > 0;
  if (isEarly) return waitForMasters(work, entry, masters);
  const faults = [...reading.faults, ...masters.faults];
  const { owners: declared } = masters;
  const missing = await apply({ work, trusted, reading: { ...reading, faults }, declared });
  if (missing.length > 0) await waitForMasters(work, entry, masters, missing);
}

/** The current position; undefined if nothing of it was applied. */
function cursorOf(row: TargetRow): Cursor | undefined {
  const { applied_entry_version: entryVersion, version, unverified_since: unverifiedSince } = row;
  if (version === null || entryVersion === null) return undefined;
  return { entryVersion, version, mustReread: unverifiedSince !== null };
}

/** Retirement is permanent: a later entry with the same id is reported and not applied. */
async function retire(work: EntryWork, { entry }: TrustedEntry): Promise<void> {
  const { row, context } = work;
  const isOffered = entry.retiredAt === undefined;
  const message = `${entry.catalogId} was retired, but is offered again.`;
  const returned = isOffered ? [new CrawlFault('retired-returned', message)] : [];
  await settle(work, { retired_at: row.retired_at ?? context.now() }, returned);
}

/** "Flag as a possible rollback or tampering; do not apply the regressed content" (self-hosted spec: Errors). */
async function flagRollback(work: EntryWork, { of, stored, offered }: Omit<Rollback, 'kind'>): Promise<void> {
  const message = `${work.row.catalog_id} is offered with ${of} ${offered}, but ${stored} was seen before: a rollback, or tampering.`;
  await settle(work, {}, [new CrawlFault('rollback', message)]);
}
