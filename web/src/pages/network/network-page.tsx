import type { Overview } from '../../../../src/console/answers/network.ts';
import { useGet } from '../../api/load.ts';
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

const tabs = [
  { name: 'catalogs', label: 'Catalogs', Content: CatalogsTab },
  { name: 'deliveries', label: 'Deliveries', Content: DeliveriesTab },
  { name: 'nodes', label: 'Crawled nodes', Content: NodesTab },
  { name: 'log', label: 'Crawl log', Content: CrawlLogTab },
  { name: 'participants', label: 'Participants', Content: ParticipantsTab },
  { name: 'subscriptions', label: 'Subscriptions', Content: SubscriptionsTab },
  { name: 'masters', label: 'Masters', Content: MastersTab },
  { name: 'audit', label: 'Audit', Content: AuditTab },
];

export default function NetworkPage() {
  const overview = useGet<Overview>('/api/overview', {}, ['catalog', 'delivery', 'crawl', 'subscription']);
  const { name: chosen, Content } = tabs.find(({ name }) => name === param('tab')) ?? {
    ...{ name: 'catalogs', Content: CatalogsTab },
  };
  const counts: Record<string, number | undefined> = {
    deliveries: overview.data?.deliveries.parked,
    nodes: overview.data?.crawl.failing,
  };
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
          tabs={tabs.map((tab) => ({ ...tab, count: counts[tab.name] }))}
          chosen={chosen}
          choose={(tab) => navigate('network', { tab })}
        >
          <Content />
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

type FigureProps = { label: string; value: number; children?: preact.ComponentChildren };

function Figure({ label, value, children }: FigureProps) {
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
