import type { Queryable } from '../database.ts';
import { type Sql, sql } from '../sql.ts';
import { clip } from '../texts.ts';

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
  const clipped = JSON.stringify(lines, (_name, value) =>
    typeof value === 'string' ? clip(value, maxTextLength) : value,
  );
  await queryable.query(sql`
    insert into discovery.crawl_log as known (key, node, index_url, catalog_id, url, document, code, message, hint, first_at, at, times)
    select sha256(convert_to(concat_ws(E'\\n', node, "indexUrl", "catalogId", url, document, code, message), 'UTF8')),
      node, "indexUrl", "catalogId", url, document, code, message, max(hint), ${now}, ${now}, count(*)
    from json_to_recordset(${clipped}::json) as line (
      node text, "indexUrl" text, "catalogId" text, url text, document text, code text, message text, hint text)
    group by node, "indexUrl", "catalogId", url, document, code, message
    on conflict (key) do update set at = excluded.at, times = known.times + excluded.times`);
  await dropSurplus(queryable, [...new Set(lines.map(({ node }) => node))]);
}

/** Lines that somebody else is just writing are left alone: they are not the oldest any more. */
async function dropSurplus(queryable: Queryable, nodes: readonly string[]): Promise<void> {
  await queryable.query(sql`delete from discovery.crawl_log where id in (
      select id from discovery.crawl_log where id in (
        select oldest.id from unnest(${nodes}::text[]) as writing (name) cross join lateral (
          select id from discovery.crawl_log where node = name order by at desc, id desc offset ${maxLinesPerNode}
        ) as oldest
      ) for update skip locked
    )`);
}

const columns = sql`node, index_url as "indexUrl", catalog_id as "catalogId", url, document, code, message, hint, first_at as "firstAt", at, times`;

interface LogFilter {
  node?: string;
  catalogId?: string;
  limit: number;
}

export async function readLog(queryable: Queryable, filter: LogFilter & { offset: number }) {
  const wanted = isAsked(filter);
  const lines = await queryable.rows<LoggedLine>(sql`select ${columns} from discovery.crawl_log
    where ${wanted} order by at desc, id desc limit ${filter.limit} offset ${filter.offset}`);
  const total = await queryable.value<number>(sql`select count(*) from discovery.crawl_log where ${wanted}`);
  return { lines, total };
}

function isAsked({ node, catalogId }: LogFilter): Sql {
  return sql`(${node}::text is null or node = ${node}) and (${catalogId}::text is null or catalog_id = ${catalogId})`;
}

/** The latest lines first, from a line on: a page costs the same, however long the log is. */
export function listLog(
  queryable: Queryable,
  { after, ...filter }: LogFilter & { after?: { at: Date; id: number } },
) {
  return queryable.rows<LoggedLine & { id: number }>(sql`select id, ${columns} from discovery.crawl_log
    where ${isAsked(filter)} and (${after?.at}::timestamptz is null or (at, id) < (${after?.at}, ${after?.id}::bigint))
    order by at desc, id desc limit ${filter.limit}`);
}
