import type { Queryable } from '../../storage/database.ts';
import { type Freshness, homeText, isNewsTo } from '../../storage/freshness.ts';
import {
  type Change,
  forgetAll,
  forgetChanged,
  forgetTooLong,
  type Memory,
  type Moment,
  memoryOf,
} from './caches.ts';

// A process asks which changes of the index were committed since it asked last, and forgets what they name: so a search that begins after a commit
// sees it, whoever committed. It asks before a search, or, as mostly nothing has changed, only when it stores what the search has found.

/** How long the database tells of a change after it was written: a transaction may still take most of that to commit. */
const changesKeptMs = 3_600_000;
/** Who has not asked for longer begins anew: to be told of all that has changed would take longer than to read again what is needed. */
const maxPauseMs = 60_000;
/** Likewise when there are so many changes. */
const maxChanges = 2_000;
/** Others wait for the answer, too. */
const maxAskMs = 5_000;
/** A search reads optimistically if nothing had changed so shortly ago. */
const optimisticMs = 1_000;

/** Makes sure that nothing is remembered that was outdated when this was called. Searches that begin while one is asking ask together after it. */
export async function catchUp(queryable: Queryable): Promise<void> {
  const memory = memoryOf(queryable);
  const { state } = memory;
  // What was asked before this was called may have been told before.
  await state.asking?.catch(() => undefined);
  // Whoever asks for all may have less time than others.
  if (state.asking) return state.asking.catch(() => ask(queryable, memory));
  state.asking = ask(queryable, memory).finally(() => {
    state.asking = undefined;
  });
  return state.asking;
}

async function ask(queryable: Queryable, memory: Memory): Promise<void> {
  // Others may ask at the same time: what is told follows this moment, whichever was the last one when the answer comes.
  const { state } = memory;
  const { asked } = state;
  const askedAt = performance.now();
  const { rows } = await queryable.query<(Moment | { snapshot: null }) & Change>(
    `select pg_current_snapshot()::text as snapshot, ${homeText} as home, extract(epoch from now())::float8 * 1000 as at,
       null as catalogs, null as lists, null as owners, null as words, null as merged, null as everything
     union all (
       select null, null, null, array_to_json(catalogs)::text, array_to_json(lists)::text, array_to_json(owners)::text,
         coalesce(array_to_json(words)::text, 'null'), array_to_json(nullif(merged, '{}'))::text, everything
       from discovery.change where ${isNewsTo('$1')} order by xid limit ${maxChanges}
     )`,
    [asked?.snapshot ?? null],
    { prepared: true, timeoutMs: maxAskMs },
  );
  state.askedAt = askedAt;
  const changes: Change[] = [];
  for (const row of rows) {
    if (row.snapshot === null && row.merged !== null) forgetTooLong(memory, row.merged);
    else if (row.snapshot === null) changes.push(row);
    else {
      const isAll = asked?.home === row.home && row.at - asked.at <= maxPauseMs && rows.length <= maxChanges;
      if (!isAll) forgetAll(memory);
      state.asked = row;
    }
  }
  state.isQuiet = changes.length === 0;
  forgetChanged(memory, changes);
}

/** What an optimistic search relied on: that nothing has changed since this process asked last. */
export interface CacheFreshness extends Freshness {
  memory: Memory;
  times: number;
}

/**
 * An optimistic read: the search does without asking what has changed, as mostly nothing has. Its answer holds only if that is made sure afterwards: by
 * `isStillFresh`, or by the statement that stores the answer, with `freshCondition`.
 */
export function assumeFresh(queryable: Queryable, now = performance.now()): CacheFreshness | undefined {
  const memory = memoryOf(queryable);
  const { asked, askedAt, isQuiet } = memory.state;
  if (asked === undefined || !isQuiet || now - askedAt > optimisticMs) return undefined;
  return { snapshot: asked.snapshot, home: asked.home, memory, times: memory.times };
}

export async function isStillFresh(
  queryable: Queryable,
  { memory, times }: CacheFreshness,
): Promise<boolean> {
  await catchUp(queryable);
  return memoryOf(queryable) === memory && memory.times === times;
}

/** Tells no more of changes that everybody has asked about. */
export async function purgeChanges(queryable: Queryable): Promise<void> {
  await queryable.query(`delete from discovery.change where at < now() - $1 * interval '1 millisecond'`, [
    changesKeptMs,
  ]);
}
