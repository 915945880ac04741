import type { Queryable } from '../../storage/database.ts';
import {
  type Freshness,
  isNewsTo,
  type Position,
  positionText,
  serverText,
} from '../../storage/freshness.ts';
import { type Caches, cacheNames, type IndexReader, type Moment } from './caches.ts';

// Cache invalidation. Every transaction that changes the index writes to a change feed (discovery.change). A process reads the changes committed
// since its last snapshot, and invalidates what they name. So a search that begins after a commit sees it, whichever process committed.

/** How long the change feed keeps a change. A change is written before its transaction commits, and the commit may come much later. */
const changesKeptMs = 3_600_000;
/** After a longer pause everything is invalidated: reading all changes would take longer than filling the caches again. */
const maxPauseMs = 60_000;
/** The same after more changes. */
const maxChanges = 2_000;
/** Several searches may wait for one refresh. */
const maxAskMs = 5_000;
/** A search reads optimistically if the database was asked within this time, */
const optimisticMs = 1_000;
/** and has reported no change for this time. While resources are pushed, each commit would make all running searches start again. */
const steadyMs = 800;

/** It need not know the generation in use: the change feed contains that. */
type CacheReader = Omit<IndexReader, 'index'>;

/** A value that PostgreSQL does not plan for. With the bare parameter it would plan the statement each time, which takes longer than running it. */
const askedSnapshot = '(select $1::pg_snapshot)';

/** Invalidates everything stale. Calls during a refresh share the next one. `mayLag`: except changes that replicas lack (DISCOVER_MAX_LAG_MS). */
export async function refreshCaches(reader: CacheReader, { mayLag = false } = {}): Promise<void> {
  const { state } = reader.caches;
  // A refresh that started before this call may have read an older snapshot, so wait for it and start a new one.
  await state.asking?.catch(() => undefined);
  if (state.asking) {
    // The search that started the shared refresh may have had less time than this one, or permission to lag. In that case, refresh again.
    const isFresh = await state.asking.catch(() => undefined);
    if (isFresh === undefined || (!isFresh && !mayLag)) await ask(reader, mayLag);
    return;
  }
  state.asking = ask(reader, mayLag).finally(() => {
    state.asking = undefined;
  });
  await state.asking;
}

/** False if the caches stay unchanged: the next refresh reads the same changes again. */
async function ask(reader: CacheReader, mayLag: boolean): Promise<boolean> {
  const { caches } = reader;
  // Two refreshes may run at once. The changes in this answer follow this moment, even if the other refresh has advanced the state meanwhile.
  const { state } = caches;
  const { asked } = state;
  const askedAt = performance.now();
  const knownMs = askedAt - state.askedAt;
  const rows = await reader.rows<(Moment | { snapshot: null }) & Change>(
    `select pg_current_snapshot()::text as snapshot, ${serverText} as server, extract(epoch from now())::float8 * 1000 as at, ${positionText} as lsn,
       null as catalogs, null as lists, null as words, null as merged, null as everything
     union all (
       select null, null, null, null, array_to_json(catalogs)::text, array_to_json(lists)::text,
         words, array_to_json(nullif(merged, '{}'))::text, everything
       from discovery.change where ${isNewsTo(askedSnapshot)} order by xid limit ${maxChanges}
     )`,
    [asked?.snapshot ?? null],
    { prepared: true, timeoutMs: maxAskMs, onPrimary: true },
  );
  const moment = rows.find((row): row is Moment & Change => row.snapshot !== null);
  if (moment === undefined) throw new Error('the change feed gave no snapshot');
  const isAll =
    asked?.server === moment.server && moment.at - asked.at <= maxPauseMs && rows.length <= maxChanges;
  const position = moment.lsn === null ? undefined : { server: moment.server, lsn: moment.lsn };
  const isSame = isAll && rows.length === 1;
  if (mayLag && isAll && !isSame && position && (await reader.mayMiss?.(position, knownMs))) {
    state.changedAt = performance.now();
    return false;
  }
  state.askedAt = askedAt;
  const changes: Change[] = [];
  for (const row of rows) {
    if (row.snapshot === null && row.merged !== null) forgetLists(caches, row.merged);
    else if (row.snapshot === null) changes.push(row);
  }
  if (!isAll) invalidateAll(caches, { isOther: asked?.server !== moment.server });
  if (!isSame) state.needed = findLater(state.needed, position);
  state.asked = moment;
  if (changes.length > 0) state.changedAt = performance.now();
  invalidateChanged(caches, changes);
  return true;
}

/** Changes of one transaction, or some of them, as JSON texts. */
interface Change {
  catalogs: string | null;
  lists: string | null;
  /** Whether words were added. */
  words: boolean | null;
  /** Lists that were compacted, with unchanged content; null if content has changed. */
  merged: string | null;
  everything: boolean | null;
}

/** `isOther`: another server or a restored copy answers, and uses the same numbers for other runs. */
function invalidateAll(caches: Caches, { isOther = false } = {}): void {
  caches.generation++;
  caches.inUse = undefined;
  caches.documents = undefined;
  for (const name of cacheNames) if (name !== 'runs' || isOther) caches[name].clear();
}

function invalidateChanged(caches: Caches, changes: readonly Change[]): void {
  for (const { catalogs, lists, everything } of changes) {
    if (everything) invalidateAll(caches);
    caches.generation++;
    for (const key of JSON.parse(catalogs ?? '[]')) caches.catalogs.forget(key);
    forgetLists(caches, lists ?? '[]');
  }
  if (changes.length > 0) caches.documents = undefined;
  if (changes.some(({ words }) => words)) caches.words.clear();
}

function forgetLists(caches: Caches, lists: string): void {
  for (const list of JSON.parse(lists)) caches.lists.forget(list);
}

/** The later of two positions. Their answers may have arrived in the wrong order. */
function findLater(known: Position | undefined, position: Position | undefined): Position | undefined {
  return known && known.server === position?.server && known.lsn > position.lsn ? known : position;
}

/** The assumption of an optimistic search: nothing has changed since this process last asked. */
export interface CacheFreshness extends Freshness {
  caches: Caches;
  generation: number;
}

/** An optimistic read does not ask for changes first. `isStillFresh`, or storing with `freshCondition`, confirms afterwards that there were none. */
export function assumeFresh(caches: Caches, now = performance.now()): CacheFreshness | undefined {
  const { asked, askedAt, changedAt } = caches.state;
  if (asked === undefined || now - askedAt > optimisticMs || now - changedAt < steadyMs) return undefined;
  return { snapshot: asked.snapshot, server: asked.server, caches, generation: caches.generation };
}

export async function isStillFresh(reader: CacheReader, { caches, generation }: CacheFreshness) {
  await refreshCaches(reader);
  return reader.caches === caches && caches.generation === generation;
}

/** Transaction numbers mean nothing after a database was restored on another server. */
export async function forgetTransactions(queryable: Queryable): Promise<void> {
  await queryable.query('truncate discovery.change, discovery.index_process');
}

/** Removes changes that every process has read. */
export async function purgeChanges(queryable: Queryable): Promise<void> {
  const isOld = `at < now() - ${changesKeptMs} * interval '1 millisecond'`;
  await queryable.query(`delete from discovery.change where ${isOld}`);
}
