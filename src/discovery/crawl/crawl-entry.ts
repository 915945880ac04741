import type { JsonObject } from '../../protocol/json.ts';
import { judgeEntry } from '../../rules/self-hosted/acceptance.ts';
import type { Rollback } from '../../rules/self-hosted/reading-plan.ts';
import { claimedRecordId } from '../../rules/self-hosted/signer.ts';
import { type TrustedEntry, trustEntry } from '../../rules/self-hosted/trust-index.ts';
import type { HostLease } from '../../storage/crawl-hosts.ts';
import { writeLog } from '../../storage/crawl-log.ts';
import { letArrivalsPass } from '../../storage/crawl-masters.ts';
import { recheckNode } from '../../storage/crawl-nodes.ts';
import { recordTarget, type TargetChanges, type TargetRow } from '../../storage/crawl-targets.ts';
import { settlePrecedence } from '../../storage/discovery-sync.ts';
import type { ApplyCatalog } from './apply-entry.ts';
import { extendingOf } from './assemble.ts';
import type { CrawlContext } from './context.ts';
import { findDeclaredMasters } from './declared-masters.ts';
import { readContent } from './read-content.ts';
import { crawledNode } from './read-node.ts';
import { findKeys } from './reader.ts';
import { asReadingFault, CrawlFault, type ReadingFault } from './reasons.ts';
import { minPollMs, nextAttempt } from './schedule.ts';
import { lineOf } from './tell.ts';
import { mustWait, waitForMasters } from './wait-for-masters.ts';

// The entry stage (self-hosted spec: Discovery crawl order, 5; States and transitions): one catalog is brought to what its entry says, or
// it is told why not. State moves only when every check has passed, the cursor together with the content.

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

export interface EntryWork {
  context: CrawlContext;
  lease: HostLease;
  row: TargetRow;
  signal: AbortSignal;
}

/** The entry was verified when its index was read; since then its key may have been revoked. */
async function trustedEntry({ context: { reader }, row }: EntryWork): Promise<TrustedEntry> {
  const document = JSON.parse(row.document) as JsonObject;
  const node = crawledNode(reader, row);
  const keys = await findKeys(reader, node, [claimedRecordId(document)]);
  return trustEntry(document, { url: row.index_url, node, keys, limits: reader.limits });
}

async function followEntry(work: EntryWork, trusted: TrustedEntry, apply: ApplyCatalog): Promise<void> {
  const { context, row, signal } = work;
  const { reader, policy } = context;
  const { entry } = trusted;
  if (row.retired_at !== null || entry.retiredAt !== undefined) return retire(work, trusted);
  const { applied_entry_version: stored } = row;
  const { entryVersion: offered } = entry;
  if (stored !== null && offered < stored) return flagRollback(work, { of: 'entryVersion', stored, offered });

  const publisher = { identity: row.node, networkMemberships: row.network_memberships };
  const acceptance = judgeEntry(entry, publisher, policy);
  if (acceptance.kind !== 'accepted') {
    const fault = new CrawlFault(acceptance.kind, acceptance.reason);
    return settle(work, { relevant: false, applied_entry_version: offered }, [fault]);
  }
  const isApplied = row.version !== null && row.applied_entry_version !== null;
  if (isApplied && row.applied_master !== (entry.catalogType === 'MASTER')) {
    const fault = new CrawlFault(
      'type-changed',
      `${entry.catalogId} has become a ${entry.catalogType} catalog.`,
    );
    return settle(work, {}, [fault]);
  }
  const cursor =
    row.version === null || row.applied_entry_version === null
      ? undefined
      : {
          entryVersion: row.applied_entry_version,
          version: row.version,
          mustReread: row.unverified_since !== null,
        };
  if (row.waiting_for !== null) await letArrivalsPass(context.database);
  const masters = await findDeclaredMasters(work, entry);
  if (await mustWait(work, masters)) return waitForMasters(work, entry, masters);
  const reading = await readContent(reader, crawledNode(reader, row), trusted, cursor, signal);
  if (reading.kind === 'rollback') return flagRollback(work, reading.plan);
  if (reading.kind === 'nothing' && !reading.complete) return postpone(work, reading.faults);
  const isEarly = masters.coming.length > 0 && extendingOf(reading).size > 0;
  if (isEarly) return waitForMasters(work, entry, masters);
  const faults = [...reading.faults, ...masters.faults];
  const { owners: declared } = masters;
  const missing = await apply({ work, trusted, reading: { ...reading, faults }, declared });
  if (missing.length > 0) await waitForMasters(work, entry, masters, missing);
}

/** Retired is for ever: what comes after it under the same id is told, and not taken. */
async function retire(work: EntryWork, { entry }: TrustedEntry): Promise<void> {
  const { row, context } = work;
  const returned =
    entry.retiredAt === undefined
      ? [new CrawlFault('retired-returned', `${entry.catalogId} was retired, and is offered again.`)]
      : [];
  await settle(work, { retired_at: row.retired_at ?? context.now() }, returned);
}

/** "Flag as a possible rollback or tampering; do not apply the regressed content" (self-hosted spec: Errors). */
async function flagRollback(work: EntryWork, { of, stored, offered }: Omit<Rollback, 'kind'>): Promise<void> {
  const message = `${work.row.catalog_id} is offered with ${of} ${offered}, but ${stored} was seen before: a rollback, or tampering.`;
  await settle(work, {}, [new CrawlFault('rollback', message)]);
}

/** The entry is dealt with: nothing more is to do until there is another one. */
async function settle(
  work: EntryWork,
  changes: TargetChanges,
  faults: readonly ReadingFault[],
): Promise<void> {
  const { context, lease, row } = work;
  const now = context.now();
  const [fault] = faults;
  await context.database.transaction(async (tx) => {
    const settled = {
      settled_digest: row.digest,
      failures: 0,
      last_code: fault?.code ?? null,
      waiting_for: null,
    };
    await recordTarget(tx, lease, row, { ...settled, ...changes }, null);
    await settlePrecedence(tx, [{ owner: row.node, id: row.catalog_id }]);
    await writeLog(tx, linesOf(work, faults), now);
  });
}

/** It is tried again, whatever its index answers meanwhile. */
export async function postpone(
  work: EntryWork,
  faults: readonly ReadingFault[],
  more: Pick<TargetChanges, 'waiting_for'> = {},
): Promise<void> {
  const { context, lease, row } = work;
  const now = context.now();
  const failures = row.failures + 1;
  const retryAfterMs = Math.max(
    0,
    ...faults.map((fault) => (fault instanceof CrawlFault && fault.retryAfterMs) || 0),
  );
  const dueAt = nextAttempt(failures, { now, random: Math.random() }, retryAfterMs);
  await context.database.transaction(async (tx) => {
    const changes = { failures, last_code: faults[0]?.code ?? null, ...more };
    if (faults.some((fault) => !(fault instanceof CrawlFault)))
      await recheckNode(tx, row.node_id, now, minPollMs);
    await recordTarget(tx, lease, row, changes, dueAt);
    await writeLog(tx, linesOf(work, faults), now);
  });
}

export function linesOf({ context, row }: EntryWork, faults: readonly ReadingFault[]) {
  const about = { node: row.node, indexUrl: row.index_url, catalogId: row.catalog_id };
  return faults.map((fault) => lineOf(context, about, fault));
}
