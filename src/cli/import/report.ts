import type { Collected } from '../../import/collect.ts';
import type { Problem } from '../../import/station.ts';
import { counted } from '../command.ts';

export function renderReport({ problems, heldBack }: Pick<Collected, 'problems' | 'heldBack'>): string[] {
  const held = 'Held back, because the place looks wrong (--keep-doubtful publishes it):';
  const headings: [kind: Problem['kind'], heading: string][] = [
    ['left-out', 'Left out:'],
    ['value', 'Not imported:'],
    ['doubt', heldBack.length > 0 ? held : 'Published although the place looks wrong:'],
    ['note', 'Worth knowing:'],
  ];
  return headings.flatMap(([kind, heading]) => {
    const lines = group(problems.filter((problem) => problem.kind === kind)).map(renderGroup);
    return lines.length > 0 ? [heading, ...lines.map((line) => `  ${line}`), ''] : [];
  });
}

/**
 * Counts of rows, independent of findings: a row counts as left out if it produced no charger.
 *
 * @param unit the name of a row in the source: `row`, `feature`, `location`
 */
export function renderSummary(
  count: number,
  unit: string,
  { catalogs, stationCount, chargerCount, offerCount, heldBack, taken, problems }: Collected,
): string {
  const rowsWith = (kind: Problem['kind']) =>
    new Set(problems.filter((problem) => problem.kind === kind).map(({ at }) => at));
  const missing = [...rowsWith('left-out')];
  const leftOut = missing.filter((at) => !taken.has(at)).length;
  const inPart = missing.length - leftOut;
  const doubtful = rowsWith('doubt').size;
  const found = [
    `${counted(leftOut, unit)} left out`,
    ...(inPart > 0 ? [`${number(inPart)} in part`] : []),
    `${number(rowsWith('value').size)} with values not imported`,
    ...(doubtful > 0
      ? [`${number(doubtful)} ${heldBack.length > 0 ? 'held back' : 'at a place that looks wrong'}`]
      : []),
  ];
  const prices = offerCount > 0 ? ` and ${counted(offerCount, 'tariff')}` : '';
  const made = `${counted(stationCount, 'station')} with ${counted(chargerCount, 'charger')}${prices} in ${counted(catalogs.length, 'catalog')}`;
  return `${counted(count, unit)}: ${made}; ${found.join(', ')}.`;
}

function number(count: number): string {
  return count.toLocaleString('en-US');
}

interface Group extends Omit<Problem, 'at' | 'kind'> {
  places: string[];
}

function group(problems: readonly Problem[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { at, column, value, why, kind } of problems) {
    // Doubtful values differ in every row.
    const [place, shared] = kind === 'doubt' ? [`${at} (${value})`] : [at, value];
    const key = JSON.stringify([column, shared, why]);
    const known = groups.get(key) ?? { places: [], column, value: shared, why };
    known.places.push(place);
    groups.set(key, known);
  }
  return [...groups.values()];
}

function renderGroup({ places, column, value, why }: Group): string {
  const [first = '', ...more] = new Set(places);
  const shown = more.slice(0, shownPlaces).map((place) => place.replace(/^\w+ /, ''));
  const rest = more.length > shown.length ? ` and ${number(more.length - shown.length)} more` : '';
  const where = [first, ...shown].join(', ') + rest;
  const text = value && value.length > shownCharacters ? `${value.slice(0, shownCharacters)}…` : value;
  const cell = text === undefined ? '' : ` "${text}"`;
  return `${where}: ${column ?? ''}${cell} ${why}`.replace(/: +/, ': ');
}

const shownPlaces = 3;
const shownCharacters = 80;
