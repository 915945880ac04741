import type { Database, Transaction } from '../database.ts';
import { join, raw, type Sql, sql } from '../sql.ts';
import { dueIn } from '../work/leases.ts';
import { wakeHosts } from './hosts.ts';
import { sourceTable } from './sources.ts';

// Repairs the crawler's tables after a jump of the database's clock (see `pullForward` in work/leases.ts). The maximum wait of a row depends on its number of
// failures: a row without failures must not wait for hours, as a permanently failing one may.

interface CrawlWaits {
  longestPollMs: number;
  /** The first delay after a failure, which doubles up to the last. */
  firstDelayMs: number;
  maxEntryDelayMs: number;
  maxRetryAfterMs: number;
  maxHostDelayMs: number;
}

/** Makes rows due that are due too far ahead, and ends rests of hosts that are too long. */
export async function pullCrawlForward(database: Database, waits: CrawlWaits): Promise<void> {
  const { longestPollMs, firstDelayMs, maxEntryDelayMs, maxRetryAfterMs, maxHostDelayMs } = waits;
  const backoff = sql`least(${maxEntryDelayMs}::float8, ${firstDelayMs}::float8 * 2 ^ least(failures, 30))`;
  await database.transaction(async (tx) => {
    await tx.query(sql`update discovery.crawl_host set rest_until = null where id in (
        select id from discovery.crawl_host where rest_until > ${dueIn(maxHostDelayMs)} order by id for no key update
      )`);
  });
  const longest = {
    crawl_node: [longestPollMs],
    crawl_index: [longestPollMs, maxRetryAfterMs, backoff],
    crawl_target: [maxRetryAfterMs, backoff],
  };
  for (const [table, waitsMs] of Object.entries(longest)) {
    await database.transaction(async (tx) => {
      await wakeHosts(tx, await pull(tx, table, waitsMs, sql`host_id`));
    });
  }
  await database.transaction(async (tx) => {
    const unleased = sql`and due_at is distinct from leased_until`;
    const sources = await pull(tx, 'crawl_source', [longestPollMs, backoff], sql`id`, unleased);
    if (sources.length > 0) tx.hint(sourceTable);
  });
}

/** Rows that are due later than after each of these waits. PostgreSQL can use an index for a wait that is the same for all rows. */
function pull(
  tx: Transaction,
  table: string,
  waitsMs: readonly (number | Sql)[],
  returned: Sql,
  condition = sql``,
) {
  const conditions = waitsMs.map((ms) => sql`due_at > ${dueIn(ms)}`);
  // Rows that are being written are checked the next time.
  return tx.column<number>(sql`update discovery.${raw(table)} set due_at = now() where id in (
      select id from discovery.${raw(table)} where ${join(conditions, ' and ')} ${condition} order by id for no key update skip locked
    ) returning ${returned}`);
}
