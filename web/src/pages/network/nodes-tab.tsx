import { post } from '../../api/client.ts';
import { usePaged } from '../../api/paged.ts';
import { session } from '../../api/session.ts';
import { hrefTo } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';
import { attempt } from '../../ui/toasts.tsx';
import type { CrawledNode } from './api.ts';

/** Nodes that publish signed files: how the crawler stands with each, and when it looks again. */
export function NodesTab() {
  const list = usePaged<CrawledNode>('/api/nodes', {}, ['crawl']);
  return (
    <PagedTable
      list={list}
      caption="nodes"
      columns={columns}
      keyOf={({ node }) => node}
      empty={
        <Empty title="No node is crawled.">
          DISCOVERY_NETWORKS or DISCOVERY_NODES says which nodes the discovery service crawls.
        </Empty>
      }
    />
  );
}

const columns: readonly Column<CrawledNode>[] = [
  { label: 'Node', cell: ({ node }) => <a href={hrefTo('inspect', { q: node })}>{node}</a> },
  { label: 'State', kind: 'short', cell: ({ state }) => <Badge tone={toneOf(state)}>{state}</Badge> },
  { label: 'Catalogs', kind: 'number', cell: ({ catalogs }) => spellCount(catalogs) },
  { label: 'Failures', kind: 'number', cell: ({ failing }) => spellCount(failing) },
  {
    label: 'Last complaint',
    cell: ({ node, lastCode, lastMessage }) =>
      lastCode && (
        <a href={hrefTo('network', { tab: 'log', node })} title={lastMessage}>
          {lastCode}
        </a>
      ),
  },
  { label: 'Looked at', kind: 'short', cell: ({ lastLookAt }) => <Ago at={lastLookAt} /> },
  { label: 'Next look', kind: 'short', cell: ({ nextAt }) => nextAt && <Ago at={nextAt} /> },
  {
    label: 'Actions',
    cell: ({ node }) =>
      session.value?.can.crawl && (
        <button type="button" onClick={() => void crawlNow(node)}>
          Crawl now<span class="hidden">: {node}</span>
        </button>
      ),
  },
];

export function crawlNow(node: string): Promise<boolean> {
  return attempt(async () => {
    await post('/api/crawl/now', { node });
    return `The crawler reads ${node} now.`;
  });
}
