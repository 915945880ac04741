import { hash } from 'node:crypto';
import type { Queryable } from '../database.ts';
import { deleteInBatches } from '../delete-in-batches.ts';
import { sql } from '../sql.ts';

// Searches that found nothing. A discover only notes them in memory; they are written together, a few seconds later.

export interface EmptySearch {
  networkId?: string;
  intent: object;
  nearMisses: readonly { code: string; message: string; path?: string }[];
}

export type EmptySearches = ReturnType<typeof createEmptySearches>;

/** Between two flushes; a counter elsewhere counts the rest. */
const maxNoted = 200;
const maxIntentBytes = 8 * 1024;
const maxKept = 1_000;
const timeoutMs = 5_000;

export function createEmptySearches() {
  let noted = new Map<string, NotedSearch>();
  return {
    note({ networkId, intent, nearMisses }: EmptySearch) {
      const text = JSON.stringify(intent);
      const key = hash('sha256', `${networkId ?? ''}\n${text}`);
      const known = noted.get(key);
      if (known) known.times += 1;
      if (known || noted.size >= maxNoted) return;
      const kept = Buffer.byteLength(text) > maxIntentBytes ? JSON.stringify({ bytes: text.length }) : text;
      noted.set(key, { key, networkId, intent: kept, nearMisses: JSON.stringify(nearMisses), times: 1 });
    },
    async flush(queryable: Queryable, now: Date) {
      if (noted.size === 0) return;
      const searches = noted;
      noted = new Map();
      try {
        await writeSearches(queryable, [...searches.values()], now);
      } catch (error) {
        keepAgain(searches);
        throw error;
      }
    },
  };

  /** Searches that could not be written are written the next time, together with new ones. */
  function keepAgain(searches: ReadonlyMap<string, NotedSearch>): void {
    for (const [key, search] of searches) {
      const known = noted.get(key);
      if (known) known.times += search.times;
      else if (noted.size < maxNoted) noted.set(key, search);
    }
  }
}

async function writeSearches(queryable: Queryable, searches: readonly NotedSearch[], now: Date) {
  await queryable.query(
    sql`insert into console.empty_search as known (key, network_id, intent, near_misses, first_at, at, times)
     select decode(key, 'hex'), "networkId", intent::json, "nearMisses"::json, ${now}, ${now}, times
     from jsonb_to_recordset(${JSON.stringify(searches)}) as noted (key text, "networkId" text, intent text, "nearMisses" text, times bigint)
     on conflict (key) do update
       set at = excluded.at, times = known.times + excluded.times, near_misses = excluded.near_misses`,
    { timeoutMs },
  );
}

interface NotedSearch {
  key: string;
  networkId?: string;
  /** JSON texts. */
  intent: string;
  nearMisses: string;
  times: number;
}

interface KeptEmptySearch extends Omit<NotedSearch, 'networkId'> {
  at: Date;
  firstAt: Date;
  networkId: string | null;
}

export function listEmptySearches(
  queryable: Queryable,
  { limit, before }: { limit: number; before?: { at: Date; key: string } },
) {
  return queryable.rows<KeptEmptySearch>(sql`
    select encode(key, 'hex') as key, at, first_at as "firstAt", network_id as "networkId", intent,
      near_misses as "nearMisses", times
    from console.empty_search
    where ${before?.at}::timestamptz is null or (at, key) < (${before?.at}, decode(${before?.key}, 'hex')) order by at desc, key desc limit ${limit}`);
}

/** Deletes searches that were not repeated recently, and all but the latest; returns how many. */
export function purgeEmptySearches(queryable: Queryable, before: Date): Promise<number> {
  const statement = (limit: number) => sql`delete from console.empty_search where key = any (array(
      select key from console.empty_search where at < greatest(${before}, (
        select at from console.empty_search order by at desc offset ${maxKept} limit 1
      )) order by at limit ${limit}
    ))`;
  return deleteInBatches(queryable, statement);
}
