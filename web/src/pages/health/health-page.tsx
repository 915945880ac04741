import type { Series } from '../../../../src/console/answers/health.ts';
import { useGet } from '../../api/load.ts';
import { navigate, param } from '../../router.ts';
import { Empty, Show } from '../../ui/states.tsx';
import { spellBytes, spellCount, spellMs } from '../../ui/time.tsx';
import { Chart, type ChartOptions } from './chart.tsx';
import { EmptySearches } from './empty-searches.tsx';
import { Troubles } from './troubles.tsx';
import { Verdict } from './verdict.tsx';
import './health.css';

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
      discoverP99Ms: 'discover, 99 of 100',
      publishP99Ms: 'publish, 99 of 100',
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
  { title: 'Event loop', spell: spellMs, isTime: true, lines: { eventLoopP99Ms: 'delay, 99 of 100' } },
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

/** The last hours of all processes together, from the database: no other service is needed to look back a day. */
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

/** The shortest span that shows all rows: after a start, a day would be an empty chart. */
function fittingSpan(rows: Series['rows']): number {
  const [first, last] = [rows[0]?.[0] ?? 0, rows.at(-1)?.[0] ?? 0];
  return spans.find((span) => last - first <= span * 3_600) ?? day;
}

/** The last figures in words: a chart on a canvas says nothing to a screen reader. */
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
