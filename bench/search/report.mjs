// What was measured beside the yardsticks, as rows and as a table.
import { quantile } from '../measure.mjs';
import { findSlowYardsticks } from './yardsticks.mjs';

const yardstickNames = {
  openSearch: 'OpenSearch',
  plain: 'plain PostgreSQL',
  indexed: 'OpenSearch as the index',
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

export function kindRows(title, { name, times, warm, failed }) {
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
  rows.push({ scenario: `${title}: ${name}, asked again, p50`, value: quantile(warm, 50), unit: 'ms' });
  if (failed > 0) rows.push({ scenario: `${title}: ${name}, not in time`, value: failed, unit: 'questions' });
  return rows;
}

/** As bench/RESULTS.md has it. */
export function printTable(title, kinds) {
  const ms = (times, percentile) => (times?.length > 0 ? quantile(times, percentile).toFixed(1) : '');
  const share = (overlaps) =>
    overlaps?.length > 0
      ? `${Math.round((100 * overlaps.reduce((sum, each) => sum + each, 0)) / overlaps.length)} %`
      : 'the same';
  const columns = ['kind', 'asked', 'p50', 'p99', 'again', 'OpenSearch p50', 'p99', 'PostgreSQL p50', 'p99'];
  const lines = kinds.map(({ name, times, warm, overlaps }) => [
    ...[name, times.ours.length, ms(times.ours, 50), ms(times.ours, 99), ms(warm, 50)],
    ...[ms(times.openSearch, 50), ms(times.openSearch, 99), ms(times.plain, 50), ms(times.plain, 99)],
    `${times.openSearch ? share(overlaps.openSearch) : ''}, ${share(overlaps.plain)}`,
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
