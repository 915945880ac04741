import type { Queryable } from '../database.ts';
import { deleteBefore } from '../delete-in-batches.ts';
import { clip } from '../parameters.ts';

// The crawl log (self-hosted spec: Errors, "a DS's own crawl log is where they appear"). The same line again counts, and moves to the end. What
// stands in a line comes from the nodes themselves: however much they write, a limited part is kept.

const maxLinesPerNode = 10_000;
/** In UTF-16 code units. */
const maxTextLength = 1_000;

export interface LogLine {
  node: string;
  indexUrl?: string;
  catalogId?: string;
  url?: string;
  /** Which document it is about. */
  document?: string;
  code: string;
  message: string;
  hint: string;
}

export interface LoggedLine extends LogLine {
  firstAt: Date;
  at: Date;
  times: number;
}

export async function writeLog(queryable: Queryable, lines: readonly LogLine[], now: Date): Promise<void> {
  if (lines.length === 0) return;
  await queryable.query(
    `insert into discovery.crawl_log as known (key, node, index_url, catalog_id, url, document, code, message, hint, first_at, at, times)
     select sha256(convert_to(concat_ws(E'\\n', node, "indexUrl", "catalogId", url, document, code, message), 'UTF8')),
       node, "indexUrl", "catalogId", url, document, code, message, max(hint), $2, $2, count(*)
     from json_to_recordset($1::json) as line (
       node text, "indexUrl" text, "catalogId" text, url text, document text, code text, message text, hint text)
     group by node, "indexUrl", "catalogId", url, document, code, message
     on conflict (key) do update set at = excluded.at, times = known.times + excluded.times`,
    [
      JSON.stringify(lines, (_name, value) =>
        typeof value === 'string' ? clip(value, maxTextLength) : value,
      ),
      now,
    ],
  );
  await dropSurplus(queryable, [...new Set(lines.map(({ node }) => node))]);
}

/** Lines that somebody else is just writing are left alone: they are not the oldest any more. */
async function dropSurplus(queryable: Queryable, nodes: readonly string[]): Promise<void> {
  await queryable.query(
    `delete from discovery.crawl_log where id in (
       select id from discovery.crawl_log where id in (
         select oldest.id from unnest($1::text[]) as writing (name) cross join lateral (
           select id from discovery.crawl_log where node = name order by at desc, id desc offset $2
         ) as oldest
       ) for update skip locked
     )`,
    [nodes, maxLinesPerNode],
  );
}

const columns = `node, index_url as "indexUrl", catalog_id as "catalogId", url, document, code, message, hint, first_at as "firstAt", at, times`;

/** A page of the latest lines, with the count of all. */
export async function readLog(
  queryable: Queryable,
  { node, catalogId, limit, offset }: { node?: string; catalogId?: string; limit: number; offset: number },
): Promise<{ lines: LoggedLine[]; total: number }> {
  const wanted = `($1::text is null or node = $1) and ($2::text is null or catalog_id = $2)`;
  const values = [node, catalogId];
  const lines = await queryable.rows<LoggedLine>(
    `select ${columns} from discovery.crawl_log where ${wanted} order by at desc, id desc limit $3 offset $4`,
    [...values, limit, offset],
  );
  const total = await queryable.value<number>(
    `select count(*) from discovery.crawl_log where ${wanted}`,
    values,
  );
  return { lines, total };
}

export interface ListedLine extends LoggedLine {
  id: number;
}

/** The latest lines first, from a line on: a page costs the same, however long the log is. */
export function listLog(queryable: Queryable, { node, catalogId, limit, after }: LogPage) {
  return queryable.rows<ListedLine>(
    `select id, ${columns} from discovery.crawl_log
     where ($1::text is null or node = $1) and ($2::text is null or catalog_id = $2)
       and ($3::timestamptz is null or (at, id) < ($3, $4::bigint))
     order by at desc, id desc limit $5`,
    [node, catalogId, after?.at, after?.id, limit],
  );
}

interface LogPage {
  node?: string;
  catalogId?: string;
  limit: number;
  /** The last line of the page before. */
  after?: { at: Date; id: number };
}

/** Forgets lines that were last written before a time; returns how many. */
export const purgeLog = deleteBefore(
  `delete from discovery.crawl_log where id in (
       select id from discovery.crawl_log where at < $1 order by at limit $2 for update skip locked
     )`,
);
