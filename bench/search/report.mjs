// The results beside the yardsticks, as rows and as a table.
import { quantile } from '../measure.mjs';
import { findSlowYardsticks } from './yardsticks.mjs';

const yardstickNames = {
  openSearch: 'OpenSearch',
  merged: 'OpenSearch, force-merged',
  fed: 'OpenSearch through us',
  plain: 'plain PostgreSQL',
};

export function seedRows(title, { perSecond, bytes }, yardsticks) {
  return Object.entries(yardsticks).flatMap(([name, filled]) => {
    if (!filled) return [];
    const against = (text) => `${yardstickNames[name]} (${text})`;
    return [
      {
        scenario: `${title}: bulk indexing`,
        value: perSecond,
        unit: 'resources/s',
        against: against(Math.round(filled.perSecond).toLocaleString('en-US')),
        ratio: perSecond / filled.perSecond,
      },
      {
        scenario: `${title}: size of the index`,
        value: bytes / 1e6,
        unit: 'MB',
        against: against(`${Math.round(filled.bytes / 1e6).toLocaleString('en-US')} MB`),
        ratio: bytes / filled.bytes,
      },
    ];
  });
}

export function kindRows(title, { name, times, processor, warm, failed }) {
  const { ours, ...yardsticks } = times;
  const rows = [50, 99].flatMap((percentile) =>
    Object.entries(yardsticks).map(([yardstick, theirs]) => {
      const [value, compared] = [quantile(ours, percentile), quantile(theirs, percentile)];
      return {
        scenario: `${title}: ${name}, first time, p${percentile}`,
        value,
        unit: 'ms',
        against: `${yardstickNames[yardstick]} (${compared.toFixed(2)} ms)`,
        ratio: value / compared,
      };
    }),
  );
  for (const [yardstick, theirs] of Object.entries(processor)) {
    if (yardstick === 'ours') continue;
    const [value, compared] = [mean(processor.ours), mean(theirs)];
    rows.push({
      scenario: `${title}: ${name}, processor time, mean`,
      value,
      unit: 'ms',
      against: `${yardstickNames[yardstick]} (${compared.toFixed(2)} ms)`,
      ratio: value / compared,
    });
  }
  rows.push({ scenario: `${title}: ${name}, asked again, p50`, value: quantile(warm, 50), unit: 'ms' });
  if (failed > 0) rows.push({ scenario: `${title}: ${name}, not in time`, value: failed, unit: 'questions' });
  return rows;
}

/** Our index in OpenSearch beside OpenSearch alone. */
export function throughRows(title, { name, times: { fed, openSearch } }) {
  if (!fed) return [];
  return [50, 99].map((percentile) => {
    const [value, alone] = [quantile(fed, percentile), quantile(openSearch, percentile)];
    return {
      scenario: `${title}: ${name}, in OpenSearch through us, p${percentile}`,
      ...{ value, unit: 'ms', against: `OpenSearch (${alone.toFixed(2)} ms)`, ratio: value / alone },
    };
  });
}

/** How much slower our index in OpenSearch may be than OpenSearch alone. */
const throughUs = { factor: 1.5, ms: 4 };

function mean(numbers) {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}

/** The format of bench/RESULTS.md. */
export function printTable(title, kinds) {
  const ms = (times, percentile) => (times?.length > 0 ? quantile(times, percentile).toFixed(1) : '');
  const share = (overlaps) =>
    overlaps?.length > 0
      ? `${Math.round((100 * overlaps.reduce((sum, each) => sum + each, 0)) / overlaps.length)} %`
      : 'the same';
  const ratio = (ours, theirs, of) => (theirs?.length > 0 ? (of(ours) / of(theirs)).toFixed(2) : '');
  const median = (times) => quantile(times, 50);
  const columns = ['kind', 'asked', 'p50', 'p99', 'again', 'processor'];
  for (const engine of ['OpenSearch', 'force-merged'])
    columns.push(`${engine} p50`, 'p99', 'processor', 'ours/theirs', 'processor');
  columns.push('through us p50', 'p99', 'processor', 'over its limit, ms', 'PostgreSQL p50', 'p99');
  const lines = kinds.map(({ name, times, processor, warm, overlaps }) => [
    ...[
      name,
      times.ours.length,
      ms(times.ours, 50),
      ms(times.ours, 99),
      ms(warm, 50),
      mean(processor.ours).toFixed(1),
    ],
    ...['openSearch', 'merged'].flatMap((engine) => [
      ms(times[engine], 50),
      ms(times[engine], 99),
      processor[engine] ? mean(processor[engine]).toFixed(1) : '',
      ratio(times.ours, times[engine], median),
      ratio(processor.ours, processor[engine], mean),
    ]),
    ...[ms(times.fed, 50), ms(times.fed, 99), processor.fed ? mean(processor.fed).toFixed(1) : ''],
    times.fed?.length > 0
      ? Math.max(0, median(times.fed) - throughUs.factor * median(times.openSearch) - throughUs.ms).toFixed(1)
      : '',
    ...[ms(times.plain, 50), ms(times.plain, 99)],
    [overlaps.openSearch, overlaps.plain].flatMap((each) => (each ? share(each) : [])).join(', '),
  ]);
  const table = [[...columns, 'of our page on theirs'], columns.map(() => '---').concat('---'), ...lines];
  console.error(`${title}, ms:\n${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`);
}

export function tellSlowYardsticks(measuredWith, kinds) {
  const slow = findSlowYardsticks(measuredWith, (engine, kind) => {
    const times = kinds.find(({ name }) => name === kind)?.times[engine] ?? [];
    return quantile(times, 50);
  });
  if (slow.length === 0) return;
  console.error(`bench: this run is INVALID until explained: a yardstick is too slow.\n${slow.join('\n')}`);
  process.exitCode = 1;
}
