import type { Collected } from '../rules/import/collect.ts';
import type { Problem } from '../rules/import/station.ts';
import { counted } from './command.ts';

// What an import tells: the same finding in many rows is one line, so that a person reads it; a report file has each of them.

export function renderReport(problems: readonly Problem[]): string[] {
  return headings.flatMap(([kind, heading]) => {
    const lines = group(problems.filter((problem) => problem.kind === kind)).map(renderGroup);
    return lines.length > 0 ? [heading, ...lines.map((line) => `  ${line}`), ''] : [];
  });
}

const headings: readonly [kind: Problem['kind'], heading: string][] = [
  ['left-out', 'Left out:'],
  ['value', 'Not taken over:'],
  ['note', 'Worth knowing:'],
];

export function renderSummary(
  source: string,
  { catalogs, stationCount, chargerCount, problems }: Collected,
): string {
  const count = (kind: Problem['kind']) => problems.filter((problem) => problem.kind === kind).length;
  const made = `${counted(stationCount, 'station')} with ${counted(chargerCount, 'charger')} in ${counted(catalogs.length, 'catalog')}`;
  return `${source}: ${made}; ${number(count('left-out'))} left out, ${counted(count('value'), 'value')} not taken over.`;
}

function number(count: number): string {
  return count.toLocaleString('en-US');
}

interface Group extends Omit<Problem, 'at' | 'kind'> {
  places: string[];
}

function group(problems: readonly Problem[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { at, column, value, why } of problems) {
    const key = JSON.stringify([column, value, why]);
    const known = groups.get(key);
    if (known) known.places.push(at);
    else groups.set(key, { places: [at], column, value, why });
  }
  return [...groups.values()];
}

function renderGroup({ places, column, value, why }: Group): string {
  const [first = '', ...more] = new Set(places);
  const shown = more.slice(0, shownPlaces).map((place) => place.replace(/^\w+ /, ''));
  const rest = more.length > shown.length ? ` and ${number(more.length - shown.length)} more` : '';
  const where = [first, ...shown].join(', ') + rest;
  const cell =
    value === undefined
      ? ''
      : ` "${value.length > shownCharacters ? `${value.slice(0, shownCharacters)}…` : value}"`;
  return `${where}: ${column ?? ''}${cell} ${why}`.replace(/: +/, ': ');
}

const shownPlaces = 3;
const shownCharacters = 80;
