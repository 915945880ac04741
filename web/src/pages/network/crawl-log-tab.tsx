import type { LogLine } from '../../../../src/console/answers/network.ts';
import { usePaged } from '../../api/load.ts';
import { hrefTo, param } from '../../router.ts';
import { NodeLink } from '../../ui/node-link.tsx';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';

export function CrawlLogTab() {
  const node = param('node');
  const list = usePaged<LogLine>('/api/crawl/log', { node }, ['crawl']);
  return (
    <div class="stack">
      {node !== '' && (
        <p>
          Lines about <strong>{node}</strong>. <a href={hrefTo('network', { tab: 'log' })}>All nodes</a>
        </p>
      )}
      <PagedTable
        list={list}
        caption="crawl log"
        columns={columns}
        keyOf={({ id }) => String(id)}
        empty="The crawler has found no problems."
      />
    </div>
  );
}

const columns: readonly Column<LogLine>[] = [
  { label: 'Node', cell: ({ node }) => <NodeLink node={node} /> },
  { label: 'Catalog', kind: 'short', cell: ({ catalogId }) => catalogId },
  {
    label: 'Problem',
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
