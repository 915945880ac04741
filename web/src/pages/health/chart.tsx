import { useEffect, useRef } from 'preact/hooks';
import UPlot, { type AlignedData, type Options } from 'uplot';
import type { Series } from '../../../../src/console/answers/health.ts';
import { isDark } from '../../theme.ts';
import 'uplot/dist/uPlot.min.css';

export interface ChartOptions {
  title: string;
  lines: Readonly<Record<string, string>>;
  isBinary?: boolean;
  /** A logarithmic scale, because goals are far above usual values. */
  isTime?: boolean;
  spell(value: number): string;
}

interface ChartProps extends ChartOptions {
  series: Series;
  hours: number;
}

/** A time series on a canvas, as wide as its container. Its colours come from the style sheet, in light and dark. */
export function Chart({ title, lines, series, hours, isBinary, isTime, spell }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const dark = isDark.value;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const width = () => Math.max(element.clientWidth, minWidth);
    const chart = new UPlot(
      optionsFor({ lines, spell, hours, isBinary, isTime, series }, element, width()),
      columnsOf(series, lines),
      element,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: width(), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [lines, series, hours, isBinary, isTime, spell, dark]);
  return <div class="chart" ref={place} role="img" aria-label={`${title} over time`} />;
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const powersOfTwo = Array.from({ length: 50 }, (_, power) => 2 ** power);
const height = 150;
const minWidth = 120;

function optionsFor(
  { lines, spell, hours, isBinary, isTime, series }: Omit<ChartProps, 'title'>,
  element: HTMLElement,
  width: number,
): Options {
  const style = getComputedStyle(element);
  const isShort = series.rows.length < 3;
  const color = (name: string) => style.getPropertyValue(name).trim();
  // Some ticks of a logarithmic axis have no label.
  const spellTick = (tick: number | null) => (tick === null ? '' : spell(tick));
  const axis = {
    stroke: color('--soft'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: `11px ${color('--font')}`,
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false },
    padding: [10, 18, 0, 0],
    scales: {
      x: { range: (_chart, _first, last) => [last - hours * 3_600, last] },
      y: isTime
        ? { distr: 3, range: (_chart, low, high) => [Math.min(low, 1), Math.max(high * 1.5, 10)] }
        : { range: (_chart, _low, high) => [0, Math.max(high * 1.1, 1)] },
    },
    axes: [
      { ...axis, size: 28, values: (_chart, ticks) => ticks.map((tick) => clock.format(tick * 1_000)) },
      {
        ...{ ...axis, size: 64, values: (_chart, ticks) => ticks.map(spellTick) },
        ...(isBinary && { incrs: powersOfTwo }),
      },
    ],
    series: [
      {},
      ...Object.values(lines).map((label, place) => ({
        label,
        stroke: color(`--line-${place}`),
        width: 1.6,
        spanGaps: false,
        // A line needs two points.
        points: { show: isShort, size: 4 },
      })),
      ...goalsOf(series, lines).map(({ place }) => ({
        ...{ label: 'goal', stroke: color(`--line-${place}`), width: 1 },
        ...{ dash: [5, 4], points: { show: false } },
      })),
    ],
  };
}

function columnsOf(series: Series, lines: ChartOptions['lines']): AlignedData {
  const { names, rows } = series;
  const columns = Object.keys(lines).map((name) => {
    const at = names.indexOf(name) + 1;
    return rows.map((row) => (at === 0 ? null : (row[at] ?? null)));
  });
  const goalColumns = goalsOf(series, lines).map(({ goal }) => rows.map(() => goal));
  return [rows.map(([minute]) => minute), ...columns, ...goalColumns];
}

function goalsOf({ goals }: Series, lines: ChartOptions['lines']): { goal: number; place: number }[] {
  return Object.keys(lines).flatMap((name, place) => {
    const goal = goals[name];
    return goal === undefined ? [] : [{ goal, place }];
  });
}
