import type { Overview } from '../../../../src/console/answers/network.ts';
import { get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { hrefTo, navigate, param } from '../../router.ts';
import { FirstSteps } from '../../ui/first-steps.tsx';
import { Show } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';
import { AuditTab } from './audit-tab.tsx';
import { CatalogsTab } from './catalogs-tab.tsx';
import { CrawlLogTab } from './crawl-log-tab.tsx';
import { DeliveriesTab } from './deliveries-tab.tsx';
import { MastersTab } from './masters-tab.tsx';
import { NodesTab } from './nodes-tab.tsx';
import { ParticipantsTab } from './participants-tab.tsx';
import { SubscriptionsTab } from './subscriptions-tab.tsx';
import './network.css';

const tabNames = [
  'catalogs',
  'deliveries',
  'nodes',
  'log',
  'participants',
  'subscriptions',
  'masters',
  'audit',
] as const;
type TabName = (typeof tabNames)[number];

const labels: Record<TabName, string> = {
  catalogs: 'Catalogs',
  deliveries: 'Deliveries',
  nodes: 'Crawled nodes',
  log: 'Crawl log',
  participants: 'Participants',
  subscriptions: 'Subscriptions',
  masters: 'Masters',
  audit: 'Audit',
};

/** The network for its operator: catalogs, deliveries, crawled nodes and participants. */
export default function NetworkPage() {
  const overview = useLoad('overview', (signal) => get<Overview>('/api/overview', {}, signal), [
    'catalog',
    'delivery',
    'crawl',
    'subscription',
  ]);
  const chosen = tabNames.find((name) => name === param('tab')) ?? 'catalogs';
  const counts: Partial<Record<TabName, number>> = {
    deliveries: overview.data?.deliveries.parked,
    nodes: overview.data?.crawl.failing,
  };
  const tabs = tabNames.map((name) => ({ name, label: labels[name], count: counts[name] }));
  return (
    <div class="network stack">
      <h1>Network</h1>
      <Show of={overview} what="overview">
        {(data) => (
          <>
            <Figures overview={data} />
            {data.catalogs === 0 && <FirstSteps />}
          </>
        )}
      </Show>
      <section class="panel">
        <Tabs
          label="Parts of the network"
          tabs={tabs}
          chosen={chosen}
          choose={(tab) => navigate('network', { tab })}
        >
          {chosen === 'catalogs' && <CatalogsTab />}
          {chosen === 'deliveries' && <DeliveriesTab />}
          {chosen === 'nodes' && <NodesTab />}
          {chosen === 'log' && <CrawlLogTab />}
          {chosen === 'participants' && <ParticipantsTab />}
          {chosen === 'subscriptions' && <SubscriptionsTab />}
          {chosen === 'masters' && <MastersTab />}
          {chosen === 'audit' && <AuditTab />}
        </Tabs>
      </section>
    </div>
  );
}

function Figures({ overview }: { overview: Overview }) {
  const { catalogs, resources, participants, subscriptions, nodes, deliveries, crawl } = overview;
  return (
    <dl class="figures">
      <Figure label="Catalogs" value={catalogs} />
      <Figure label="Resources" value={resources} />
      <Figure label="Participants" value={participants} />
      <Figure label="Subscriptions" value={subscriptions} />
      <Figure label="Crawled nodes" value={nodes}>
        {crawl.failing > 0 && <span class="fault">{spellCount(crawl.failing)} failing</span>}
      </Figure>
      <Figure label="Deliveries waiting" value={deliveries.waiting}>
        {deliveries.oldestWaitingAt && (
          <span>
            oldest <Ago at={deliveries.oldestWaitingAt} />
          </span>
        )}
      </Figure>
      <Figure label="Deliveries parked" value={deliveries.parked}>
        {deliveries.parked > 0 && (
          <a href={hrefTo('network', { tab: 'deliveries', state: 'parked' })}>show</a>
        )}
      </Figure>
    </dl>
  );
}

function Figure({
  label,
  value,
  children,
}: {
  label: string;
  value: number;
  children?: preact.ComponentChildren;
}) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <strong>{spellCount(value)}</strong>
        {children && <span class="small soft"> {children}</span>}
      </dd>
    </div>
  );
}
