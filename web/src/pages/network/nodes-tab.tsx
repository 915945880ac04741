import type { CrawledNode } from '../../../../src/console/answers/network.ts';
import { usePaged } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { hrefTo, navigate, param } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Choice } from '../../ui/choice.tsx';
import { crawlNow } from '../../ui/crawl-now.ts';
import { NodeLink } from '../../ui/node-link.tsx';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';

export function NodesTab() {
  const state = param('state');
  const list = usePaged<CrawledNode>('/api/nodes', { state }, ['crawl']);
  return (
    <div class="stack">
      <div class="filters">
        <Choice
          label="State"
          value={state}
          options={states}
          choose={(chosen) => navigate('network', { tab: 'nodes', state: chosen })}
        />
      </div>
      <PagedTable
        list={list}
        caption="nodes"
        columns={columns}
        keyOf={({ node }) => node}
        empty={state === '' ? 'No node is crawled.' : `No node is in the state “${state}”.`}
        hint={state === '' && whomToCrawl}
      />
    </div>
  );
}

const states = [
  'failing',
  'with failing catalogs',
  'read',
  'nothing published',
  'not crawled yet',
  'no longer crawled',
];

const whomToCrawl = 'DISCOVERY_NETWORKS or DISCOVERY_NODES says which nodes the discovery service crawls.';

const columns: readonly Column<CrawledNode>[] = [
  { label: 'Node', cell: ({ node }) => <NodeLink node={node} /> },
  { label: 'State', kind: 'short', cell: ({ state }) => <Badge tone={toneOf(state)}>{state}</Badge> },
  { label: 'Catalogs', kind: 'number', cell: ({ catalogs }) => spellCount(catalogs) },
  { label: 'Failures', kind: 'number', cell: ({ failing }) => spellCount(failing) },
  {
    label: 'Last problem',
    cell: ({ node, lastCode, lastMessage }) =>
      lastCode && (
        <a href={hrefTo('network', { tab: 'log', node })} title={lastMessage}>
          {lastCode}
        </a>
      ),
  },
  { label: 'Checked', kind: 'short', cell: ({ lastLookAt }) => <Ago at={lastLookAt} /> },
  { label: 'Next check', kind: 'short', cell: ({ nextAt }) => nextAt && <Ago at={nextAt} /> },
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
