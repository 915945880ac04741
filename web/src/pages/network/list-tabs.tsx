import type {
  AuditLine,
  CrawledNode,
  Feed,
  LogLine,
  Master,
  Subscription,
} from '../../../../src/console/answers/network.ts';
import { usePaged } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { hrefTo, navigate, param } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Choice } from '../../ui/choice.tsx';
import { crawlNow } from '../../ui/crawl-now.ts';
import { Identity, NodeLink } from '../../ui/node-link.tsx';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';

// The tabs that are only lists.

export function NodesTab() {
  const state = param('state');
  const list = usePaged<CrawledNode>('/api/nodes', { state }, ['crawl']);
  return (
    <div class="stack">
      <div class="filters">
        <Choice
          label="State"
          value={state}
          options={nodeStates}
          choose={(chosen) => navigate('network', { tab: 'nodes', state: chosen })}
        />
      </div>
      <PagedTable
        list={list}
        caption="nodes"
        columns={nodeColumns}
        keyOf={({ node }) => node}
        empty={state === '' ? 'No node is crawled.' : `No node is in the state “${state}”.`}
        hint={state === '' && whomToCrawl}
      />
    </div>
  );
}

const nodeStates = [
  'failing',
  'with failing catalogs',
  'read',
  'nothing published',
  'not looked at yet',
  'not asked for',
];

const whomToCrawl = 'DISCOVERY_NETWORKS or DISCOVERY_NODES says which nodes the discovery service crawls.';

const nodeColumns: readonly Column<CrawledNode>[] = [
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
        columns={logColumns}
        keyOf={({ id }) => String(id)}
        empty="The crawler has found no problems."
      />
    </div>
  );
}

const logColumns: readonly Column<LogLine>[] = [
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

export function SubscriptionsTab() {
  const subscriptions = usePaged<Subscription>('/api/subscriptions', {}, ['subscription']);
  const feeds = usePaged<Feed>('/api/feeds', {}, ['subscription']);
  return (
    <div class="stack">
      <h2>Discovery services that subscribe here</h2>
      <PagedTable
        list={subscriptions}
        caption="subscriptions"
        columns={subscriptionColumns}
        keyOf={({ id }) => id}
        empty="No discovery service has subscribed."
      />
      <h2>Catalog services that are followed from here</h2>
      <PagedTable
        list={feeds}
        caption="feeds"
        columns={feedColumns}
        keyOf={({ catalogUrl, networkId }) => `${catalogUrl} ${networkId}`}
        empty="No catalog service is followed."
        hint="DISCOVERY_SUBSCRIPTIONS names those to follow."
      />
    </div>
  );
}

const subscriptionColumns: readonly Column<Subscription>[] = [
  {
    label: 'Subscriber',
    cell: ({ subscriber }) => (
      <a href={hrefTo('network', { tab: 'deliveries', receiver: subscriber })}>
        <Identity of={subscriber} />
      </a>
    ),
  },
  { label: 'Address', cell: ({ url }) => url },
  { label: 'Networks', cell: ({ networkIds }) => networkIds.join(', ') || 'all' },
  { label: 'Schema types', cell: ({ schemaTypes }) => schemaTypes.join(', ') || 'all' },
  { label: 'Status', kind: 'short', cell: ({ status }) => <Badge tone={toneOf(status)}>{status}</Badge> },
  { label: 'Since', kind: 'short', cell: ({ createdAt }) => createdAt && <Ago at={createdAt} /> },
];

const feedColumns: readonly Column<Feed>[] = [
  {
    label: 'Catalog service',
    cell: ({ catalogUrl, service }) => (
      <span>
        {service ?? catalogUrl}
        {service && <span class="soft small block">{catalogUrl}</span>}
      </span>
    ),
  },
  { label: 'Network', cell: ({ networkId }) => networkId },
  { label: 'State', kind: 'short', cell: ({ state }) => <Badge tone={toneOf(state)}>{state}</Badge> },
  { label: 'Pulled', kind: 'short', cell: ({ lastPullAt }) => <Ago at={lastPullAt} /> },
  { label: 'Next step', kind: 'short', cell: ({ nextAt }) => nextAt && <Ago at={nextAt} /> },
  { label: 'Last error', cell: ({ lastError }) => lastError },
];

export function MastersTab() {
  const list = usePaged<Master>('/api/masters', {}, ['catalog']);
  return (
    <PagedTable
      list={list}
      caption="master catalogs"
      columns={masterColumns}
      keyOf={({ owner, catalogId }) => `${owner} ${catalogId}`}
      empty="No master catalog."
    />
  );
}

const masterColumns: readonly Column<Master>[] = [
  {
    label: 'Master',
    cell: ({ owner, catalogId }) => (
      <a href={hrefTo('network', { tab: 'catalogs', owner, catalog: catalogId })}>{catalogId}</a>
    ),
  },
  { label: 'Owner', cell: ({ owner }) => owner && <NodeLink node={owner} /> },
  { label: 'Extended by', kind: 'number', cell: ({ dependentCount }) => spellCount(dependentCount) },
  {
    label: 'Catalogs that extend it',
    cell: ({ dependents, dependentCount }) => (
      <ul class="plain-list">
        {dependents.map(({ owner, catalogId }) => (
          <li key={`${owner} ${catalogId}`}>
            <a href={hrefTo('network', { tab: 'catalogs', owner: owner ?? undefined, catalog: catalogId })}>
              {catalogId}
            </a>{' '}
            <span class="soft small">{owner}</span>
          </li>
        ))}
        {dependentCount > dependents.length && (
          <li class="soft small">and {spellCount(dependentCount - dependents.length)} others</li>
        )}
      </ul>
    ),
  },
];

export function AuditTab() {
  const list = usePaged<AuditLine>('/api/audit', {}, ['delivery', 'crawl', 'publish']);
  return (
    <PagedTable
      list={list}
      caption="actions"
      columns={auditColumns}
      keyOf={({ id }) => String(id)}
      empty="Nothing has been changed yet."
      hint="Replays, skips, crawls and publishes from here are listed."
    />
  );
}

const auditColumns: readonly Column<AuditLine>[] = [
  { label: 'When', kind: 'short', cell: ({ at }) => <Ago at={at} /> },
  { label: 'Action', cell: ({ action }) => action },
  { label: 'On what', cell: ({ target }) => target },
  {
    label: 'Outcome',
    kind: 'short',
    cell: ({ outcome }) => <Badge tone={outcome === 'done' ? 'good' : 'bad'}>{outcome}</Badge>,
  },
  { label: 'Operator', cell: ({ operator, from }) => (from ? `${operator}, ${from}` : operator) },
];
