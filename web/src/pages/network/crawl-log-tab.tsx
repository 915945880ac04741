import { useState } from 'preact/hooks';
import { get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { hrefTo, param } from '../../router.ts';
import { NodeLink } from '../../ui/node-link.tsx';
import { Empty, Show } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';
import type { LogLine } from './api.ts';

interface LogPage {
  lines: LogLine[];
  pagination: { total: number };
}

/** The crawl log: files that the crawler refused, why, and how their publisher can mend them. */
export function CrawlLogTab() {
  const node = param('node') || undefined;
  const [limit, setLimit] = useState(linesPerPage);
  const log = useLoad(
    `log ${node} ${limit}`,
    (signal) => get<LogPage>('/api/crawl/log', { node, limit }, signal),
    ['crawl'],
  );
  return (
    <div class="stack">
      {node && (
        <p>
          Lines about <strong>{node}</strong>. <a href={hrefTo('network', { tab: 'log' })}>All nodes</a>
        </p>
      )}
      <Show of={log} what="crawl log">
        {({ lines, pagination }) =>
          lines.length === 0 ? (
            <Empty title="The crawler has nothing to complain about." />
          ) : (
            <>
              <Table
                caption="crawl log"
                columns={columns}
                rows={lines}
                keyOf={(line) =>
                  JSON.stringify([line.node, line.catalogId, line.url, line.code, line.message])
                }
              />
              <p class="table-end soft small">
                {spellCount(lines.length)} of {spellCount(pagination.total)}
                {lines.length < pagination.total && limit < maxLines && (
                  <button type="button" onClick={() => setLimit(Math.min(maxLines, limit + linesPerPage))}>
                    Show more
                  </button>
                )}
              </p>
            </>
          )
        }
      </Show>
    </div>
  );
}

const linesPerPage = 50;
const maxLines = 500;

const columns: readonly Column<LogLine>[] = [
  { label: 'Node', cell: ({ node }) => <NodeLink node={node} /> },
  { label: 'Catalog', kind: 'short', cell: ({ catalogId }) => catalogId },
  {
    label: 'What was wrong',
    cell: ({ code, message, hint }) => (
      <span>
        <code>{code}</code> {message}
        <span class="soft small block">{hint}</span>
      </span>
    ),
  },
  { label: 'Times', kind: 'number', cell: ({ times }) => spellCount(times) },
  { label: 'Last', kind: 'short', cell: ({ at }) => <Ago at={at} /> },
];
