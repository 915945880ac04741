import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Everything that runs without a request. tests/house/architecture.test.ts finds timers that are missing here, and tests/long/idle.test.ts measures
// what their statements read.

/** Each timer in the sources of the roles, by file, with one of its statements, or the reason why none can be slow. */
export const timers: Record<string, (RegExp | string)[]> = {
  'catalog/backlog.ts': [/count\(\*\) as open from catalog.submission/],
  'catalog/process-submission.ts': [/^with due .*"catalog"."lane"/],
  'catalog/pull.ts': [/^select from "catalog"."pull" where due_at/],
  'catalog/push.ts': [/^with far .* catalog.push where due_at/, /from catalog.push_cursor/],
  'catalog/rebuild-dependents.ts': [/^with due .*"catalog"."rebuild"/],
  'console/crawl.ts': ['part of a request'],
  'console/events.ts': [/from catalog.change_log\), .* from discovery.change order/],
  'console/health/database-gauges.ts': [/^select kind, state, total, receivers/],
  'console/health/record-minutes.ts': [/pg_database_size/],
  'delivery/service.ts': [/^select identity from work.callback/, /^delete from work.callback .* newest/],
  'delivery/callback-loop.ts': [/^select from "work"."callback" where due_at/],
  'delivery/lane-loop.ts': ['used by push-loop.ts', 'used by push-loop.ts'],
  'delivery/push-loop.ts': [/^with due .*"catalog"."push_lane"/],
  'delivery/receive-callback.ts': ['part of a command'],
  'delivery/repeat.ts': ['used by others', 'used by others'],
  'delivery/slow-receivers.ts': ['part of a delivery', 'part of a delivery'],
  'discovery/crawl/crawler.ts': [
    /^with due .*"discovery"."crawl_host"/,
    /^update discovery.crawl_index set due_at/,
  ],
  'discovery/crawl/enumerate.ts': [/^with due .*"discovery"."crawl_source"/],
  'discovery/crawl/rebuild-dependents.ts': [/^with due .*"discovery"."crawl_rebuild"/],
  'discovery/pull-client.ts': [/^with due .*"discovery"."feed"/],
  'discovery/services.ts': [/^select .* from discovery.feed where configured/],
  'discovery/sync.ts': [/^insert into discovery.presence/, /^delete from discovery.unsettled/],
  'fair-turns.ts': ['part of a request', 'part of a request'],
  'housekeeping.ts': [/^delete from console.empty_search/],
  'main.ts': ['once, at a start'],
  'registry/registration.ts': [/^select .* from registry.current_record/],
  'schemas/schema-fetcher.ts': ['forgets an answer in memory'],
  'search/upkeep/build.ts': ['between two steps of a build', 'part of a command'],
  'search/generations/processes.ts': [/^with forgotten as \(delete from discovery.index_process/],
  'search/opensearch/client.ts': ['part of a request'],
  'search/port.ts': [
    /^select number from discovery.generation where state = 'retired'/,
    /^select key, json_build_array\(type/,
    /^delete from discovery.change/,
  ],
  // Only in processes with SEARCH_INDEX=opensearch.
  'search/upkeep/feed-index.ts': Array(3).fill(
    'reads the row of the index, the change feed from there, and the queue',
  ),
  'search/upkeep/feed.ts': ['part of a transaction'],
  'search/upkeep/maintain-fed.ts': ['part of a command', 'part of a command'],
  'search/upkeep/walk-lists.ts': [/from discovery.run_number/, /^with seen .* from index_1.run/],
  'storage/batch.ts': ['part of a request'],
  'storage/database.ts': ['before a transaction is tried again', 'a function of PostgreSQL'],
  'storage/first-connection.ts': ['once, at a start'],
  'storage/hints.ts': ['connects again', 'gathers notifications', 'once, at an end'],
  'storage/replicas.ts': ['reads the position of a server, and no table'],
  'storage/statement.ts': ['part of a statement'],
  'storage/work/alarm.ts': ['used by others'],
  'storage/work/due-work.ts': Array(5).fill('used by others'),
  'storage/work/rebuild-loop.ts': ['used by others', 'used by others'],
  'thread-pool.ts': ['ends a thread'],
};

/** Timers that use folders and files, but no database. */
const without =
  /^(cli|conform|http|publisher|telemetry|workers|storage\/embedded)\/|^(storage\/file-lock|within)\.ts$/;
const timer =
  /(?<![.\w'"`])(?:repeat|setInterval|setTimeout|delay|startWorkLoop|startLaneLoop|startRebuildLoop)(?:<\w+>)?\(|\balarm\.sleep\(/g;

/** The number of timers per file. */
export function countTimers(): Record<string, number> {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !without.test(file))
    .sort();
  const counts = files.map((file) => [
    file,
    readFileSync(join('src', file), 'utf8').match(timer)?.length ?? 0,
  ]);
  return Object.fromEntries(counts.filter(([, count]) => count !== 0));
}
