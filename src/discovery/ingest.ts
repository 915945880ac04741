import type { CatalogType, ReceivedCatalog } from '../protocol/catalog.ts';
import { boundsOf } from '../rules/time-period.ts';
import type { Transaction } from '../storage/database.ts';
import {
  type CatalogRef,
  type CatalogRow,
  type HeldCatalog,
  holdCatalogs,
  updateCatalogs,
  type ValidityRow,
} from '../storage/discovery-catalogs.ts';
import { moveOffers } from '../storage/discovery-documents.ts';
import { keyOf } from '../storage/discovery-keys.ts';
import { createListRemovals, type ListRemovals } from '../storage/discovery-list-remover.ts';
import { headEntries } from './document-entries.ts';
import { createIndexChanges } from './index-changes.ts';
import { hash53 } from './index-entries.ts';
import { applyDocuments } from './ingest-documents.ts';

// The one door into the index, for push, pull and crawl alike. In one transaction of the caller:
//
//   hold       the catalogs' rows are locked, or made
//   compare    digests tell which documents are new, changed or to go; the others are not touched (ingest-documents.ts)
//   write      documents, and of the index only what differs between the old document and the new one (index-changes.ts)
//   update     the catalogs' rows: members, networks, schema types, validity

export interface IncomingCatalog {
  /** 'service:<identity>' of a catalog service, or 'node'. */
  source: string;
  /** Identity of the provider node. */
  owner: string;
  type: CatalogType;
  /** None or null: every network. */
  networks: readonly string[] | null;
  catalog: ReceivedCatalog;
  /** FULL leaves exactly what this catalog brings; MERGE keeps what it does not mention. */
  mode: 'FULL' | 'MERGE';
  /** A MERGE whose catalog-level members are all that there are: a part of a whole that is too large to come at once. */
  replacesMembers?: boolean;
  /** Ids that go, where a MERGE names some. */
  removals?: { resources?: readonly string[]; offers?: readonly string[] };
  /** context.timestamp of the push, or when the pull was sent, that brought it. */
  pushedAt?: Date;
  pulledAt?: Date;
}

export interface AppliedCatalog extends CatalogRef {
  key: number;
  /** Whether it was held before. */
  known: boolean;
  /** Resources and offers that were new or changed, and those that went. */
  written: number;
  removed: number;
}

/** Applies catalogs, no (source, owner, id) twice in a call. Afterwards they are served. */
export async function applyCatalogs(
  tx: Transaction,
  incoming: readonly IncomingCatalog[],
  now: Date,
): Promise<AppliedCatalog[]> {
  const refs = incoming.map(({ source, owner, catalog: { id } }) => ({ source, owner, id }));
  const held = new Map((await holdCatalogs(tx, refs, now)).map((row) => [refText(row), row]));
  const targets = incoming.flatMap((one) => {
    const before = held.get(refText({ ...one, id: one.catalog.id }));
    return before ? [targetOf(one, before)] : [];
  });
  const removals = createListRemovals();
  await indexHeads(tx, targets, removals);
  await applyDocuments(tx, 'resource', targets, removals);
  await applyDocuments(tx, 'offer', targets, removals);
  for (const { row, before } of targets) {
    if (before.known && before.provider_id !== row.provider_id)
      await moveOffers(tx, row.key, row.provider_id);
  }
  await updateCatalogs(
    tx,
    targets.map(({ row }) => row),
    now,
  );
  await removals.write(tx);
  return targets.map(({ before: { source, owner, id, key, known }, written, removed }) => ({
    ...{ source, owner, id, key, known },
    ...{ written, removed },
  }));
}

export async function applyCatalog(
  tx: Transaction,
  incoming: IncomingCatalog,
  now: Date,
): Promise<AppliedCatalog> {
  const [applied] = await applyCatalogs(tx, [incoming], now);
  if (applied === undefined) throw new Error(`catalog ${incoming.catalog.id} was not applied`);
  return applied;
}

/** A catalog on its way into the index. */
export interface Target {
  incoming: IncomingCatalog;
  before: HeldCatalog;
  /** The row as it will be; documents that are written number and count themselves in it. */
  row: CatalogRow;
  written: number;
  removed: number;
}

function targetOf(incoming: IncomingCatalog, before: HeldCatalog): Target {
  const { resources: _resources, offers: _offers, ...members } = incoming.catalog;
  const keeps = incoming.mode === 'MERGE' && before.known && !incoming.replacesMembers;
  const head = (keeps ? { ...before.head, ...members } : members) as typeof members;
  const row: CatalogRow = {
    key: before.key,
    type: incoming.type,
    head,
    head_digest: hash53(JSON.stringify(head)),
    provider_id: head.provider.id,
    networks: incoming.networks ?? [],
    schema_uses: { ...before.schema_uses },
    is_active: head.isActive ?? true,
    ...validityRow(head.validity),
    next_resource: before.next_resource,
    next_offer: before.next_offer,
    pushed_at: incoming.pushedAt ?? before.pushed_at,
    pulled_at: incoming.pulledAt ?? before.pulled_at,
    words: null,
  };
  return { incoming, before, row, written: 0, removed: 0 };
}

export function validityRow(validity: ReceivedCatalog['validity']): ValidityRow {
  const { from, until, window } = boundsOf(validity);
  return {
    valid_from: from ?? null,
    valid_until: until ?? null,
    window_start: window?.start ?? null,
    window_length: window?.length ?? null,
  };
}

/** What is said of a catalog and its provider is said of all its resources: it is indexed once, under the catalog's own key. */
async function indexHeads(
  tx: Transaction,
  targets: readonly Target[],
  removals: ListRemovals,
): Promise<void> {
  const changes = createIndexChanges();
  for (const { before, row } of targets) {
    if (before.known && before.head_digest === row.head_digest) continue;
    changes.add(
      keyOf(row.key, 0),
      before.known ? headEntries(before.head) : undefined,
      headEntries(row.head),
    );
  }
  const words = await changes.numberWords(tx);
  for (const { row } of targets) row.words = words.get(keyOf(row.key, 0)) ?? null;
  await changes.write(tx, removals);
}

function refText({ source, owner, id }: CatalogRef): string {
  return JSON.stringify([source, owner, id]);
}
