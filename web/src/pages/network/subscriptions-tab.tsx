import type { Feed, Subscription } from '../../../../src/console/answers/network.ts';
import { usePaged } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Identity } from '../../ui/node-link.tsx';
import { type Column, PagedTable } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';

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
      <h2>Catalog services that this discovery service follows</h2>
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
