import type { Duplicate, Health, Series, Trouble } from '../../../../src/console/answers/health.ts';
import { useGet } from '../../api/load.ts';
import { hrefTo, navigate, param } from '../../router.ts';
import { Empty, Show } from '../../ui/states.tsx';
import { Ago, spellBytes, spellCount, spellMs } from '../../ui/time.tsx';
import { Chart, type ChartOptions } from './chart.tsx';
import { EmptySearches } from './empty-searches.tsx';
import './health.css';
import type { ComponentChildren } from 'preact';
import { Badge } from '../../ui/badge.tsx';
import { NodeLink } from '../../ui/node-link.tsx';

const perMinute = (value: number) => `${spellCount(Number(value.toPrecision(2)))}/min`;

const charts: readonly ChartOptions[] = [
  {
    title: 'Requests',
    spell: perMinute,
    lines: { discoverRate: 'discover', publishRate: 'publish', pushRate: 'pushes', crawlRate: 'crawled' },
  },
  {
    title: 'Time to answer',
    spell: spellMs,
    isTime: true,
    lines: {
      discoverP50Ms: 'discover, median',
      discoverP99Ms: 'discover, p99',
      publishP99Ms: 'publish, p99',
    },
  },
  {
    title: 'Waiting work',
    spell: spellCount,
    lines: { waitingCallbacks: 'callbacks', waitingPushes: 'pushes', crawlDue: 'crawl', parked: 'parked' },
  },
  {
    title: 'Errors',
    spell: perMinute,
    lines: { errors: 'errors', emptySearches: 'searches without a result' },
  },
  { title: 'Event loop', spell: spellMs, isTime: true, lines: { eventLoopP99Ms: 'delay, p99' } },
  {
    title: 'Size',
    spell: spellBytes,
    isBinary: true,
    lines: { databaseBytes: 'database', rssBytes: 'memory' },
  },
  { title: 'Resources', spell: spellCount, lines: { resources: 'in the index' } },
];

const day = 24;
const spans = [1, 6, day];

/** The last hours of all processes, from the database: looking back a day needs no other service. */
export default function HealthPage() {
  const asked = spans.find((span) => span === Number(param('hours')));
  const series = useGet<Series>('/api/health/series', { hours: asked ?? day }, ['health']);
  const hours = asked ?? fittingSpan(series.data?.rows ?? []);
  return (
    <div class="health stack">
      <div class="health-head">
        <h1>Health</h1>
        <fieldset class="spans">
          <legend class="hidden">Hours shown</legend>
          {spans.map((span) => (
            <button
              key={span}
              type="button"
              aria-pressed={span === hours}
              onClick={() => navigate('health', { hours: span })}
            >
              {span === 1 ? '1 hour' : `${span} hours`}
            </button>
          ))}
        </fieldset>
      </div>
      <Verdict />
      <Troubles />
      <Show of={series} what="figures">
        {(data) =>
          data.rows.length === 0 ? (
            <Empty title="Nothing is recorded yet.">Every process writes a row each minute.</Empty>
          ) : (
            <div class="charts">
              {charts.map((chart) => (
                <section key={chart.title} class="panel chart-panel">
                  <h2>{chart.title}</h2>
                  <Latest chart={chart} series={data} />
                  <Chart {...chart} series={data} hours={hours} />
                </section>
              ))}
              <EmptySearches />
            </div>
          )
        }
      </Show>
    </div>
  );
}

/** The shortest span with all rows: after a start, a whole day would be an almost empty chart. */
function fittingSpan(rows: Series['rows']): number {
  const [first, last] = [rows[0]?.[0] ?? 0, rows.at(-1)?.[0] ?? 0];
  return spans.find((span) => last - first <= span * 3_600) ?? day;
}

/** The last values in words, because screen readers cannot read a canvas. */
function Latest({ chart: { lines, spell }, series }: { chart: ChartOptions; series: Series }) {
  const { names, rows, goals } = series;
  const last = rows.at(-1);
  return (
    <dl class="latest">
      {Object.entries(lines).map(([name, label], place) => {
        const value = last?.[names.indexOf(name) + 1];
        return (
          <div key={name}>
            <dt>
              <span class="swatch" style={{ background: `var(--line-${place})` }} aria-hidden="true" />
              {label}
            </dt>
            <dd>
              {value === undefined || value === null ? '–' : spell(value)}
              {goals[name] !== undefined && <span class="soft"> goal {spell(goals[name])}</span>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function Verdict() {
  const health = useGet<Health>('/api/health', {}, ['health', 'delivery']);
  return (
    <Show of={health} what="verdict">
      {({ healthy, reasons, processes }) => (
        <section class="panel stack" aria-label="Verdict" role="status">
          <p class="trouble-head">
            <Badge tone={healthy ? 'good' : 'bad'}>{healthy ? 'Healthy' : 'Not healthy'}</Badge>
            {healthy &&
              'The registry has every key, every subscription works, nothing is parked, and all goals are met.'}
          </p>
          {reasons.length > 0 && (
            <ul class="reasons">
              {reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          )}
          {reasons.some((reason) => reason.startsWith('Parked deliveries')) && (
            <p>
              <a href={hrefTo('network', { tab: 'deliveries', state: 'parked' })}>Show parked deliveries</a>
            </p>
          )}
          <ul class="soft small">
            {processes.map(({ process, roles, version }) => (
              <li key={process}>
                Signpost {version}: {roles.join(', ')} <code>{process.slice(0, 8)}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
    </Show>
  );
}

function Troubles() {
  const troubles = useGet<{ items: Trouble[] }>('/api/health/troubles', {}, ['health', 'subscription']);
  const duplicates = useGet<{ items: Duplicate[] }>('/api/health/duplicates', {}, ['health']);
  return (
    <>
      <Show of={troubles} what="problems">
        {({ items }) => (
          <TroubleList
            title="Problems"
            items={items}
            head={({ role, since }) => (
              <p class="trouble-head soft small">
                <Badge tone="bad">{role}</Badge> began <Ago at={since} />
              </p>
            )}
          />
        )}
      </Show>
      <Show of={duplicates} what="duplicates">
        {({ items }) => (
          <TroubleList
            title="Chargers published twice"
            items={items}
            head={({ nodes }) => (
              <p class="trouble-head small">
                {nodes.map((node) => (
                  <NodeLink key={node} node={node} />
                ))}
              </p>
            )}
          />
        )}
      </Show>
    </>
  );
}

interface ListProps<T> {
  title: string;
  items: readonly T[];
  head(item: T): ComponentChildren;
}

function TroubleList<T extends { what: string; next: string }>({ title, items, head }: ListProps<T>) {
  if (items.length === 0) return null;
  return (
    <section class="panel stack troubles" aria-label={title}>
      <h2>
        {title} <span class="count">{items.length}</span>
      </h2>
      <ul>
        {items.map((item, index) => (
          <li key={`${index} ${item.what}`}>
            {head(item)}
            <p class="trouble-what">{item.what}</p>
            <p>
              <span class="soft">Next step:</span> {item.next}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
