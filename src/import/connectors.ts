import { attempt } from '../attempt.ts';
import { isJsonObject, type Json, parseJson } from '../protocol/json.ts';
import { readNumber } from './cell-values.ts';
import type { ConnectorSection } from './mapping-file.ts';
import type { Problem } from './station.ts';

// The connectors of one row, each with separate cells; templates name them `{connector.…}`.

export type Cells = ReadonlyMap<string, string>;

interface FoundConnectors {
  connectors: Map<string, string>[];
  problems: Omit<Problem, 'at' | 'kind'>[];
}

export function findConnectors(cells: Cells, section: ConnectorSection): FoundConnectors {
  if (section.json !== undefined) return fromJson(section.json, cells.get(section.json) ?? '');
  if (section.counted !== undefined) return fromCounts(cells, section.counted, section.columns ?? {});
  return fromColumns(cells, section);
}

export function isConnectorColumn(column: string, section: ConnectorSection): boolean {
  const { json, columns = {}, counted } = section;
  if (column === json) return true;
  if (counted === undefined)
    return columnGroups(section).some((group) => group.some(([, one]) => one === column));
  return [counted, ...Object.values(columns)].some((pattern) => patternOf(pattern).test(column));
}

function fromJson(column: string, value: string): FoundConnectors {
  if (value === '') return { connectors: [], problems: [] };
  const list = attempt(() => parseJson(Buffer.from(value)));
  if (!Array.isArray(list) || !list.every(isJsonObject)) {
    return { connectors: [], problems: [{ column, value, why: 'is not a JSON array of objects' }] };
  }
  const connectors = list.map(
    (item) => new Map(Object.entries(item).map(([name, member]) => [name, textOf(member)])),
  );
  return { connectors, problems: [] };
}

/** Columns `Type1`, `Type2` …, written `Type{n}`, or one column. Each cell may list several, split by a separator. */
function fromColumns(cells: Cells, section: ConnectorSection): FoundConnectors {
  const groups = columnGroups(section).map((group) => splitGroup(cells, group, section.separator));
  return {
    connectors: groups.flatMap(({ connectors }) => connectors),
    problems: groups.flatMap(({ problems }) => problems),
  };
}

function columnGroups({ columns = {}, upTo = usualUpTo }: ConnectorSection) {
  const isNumbered = Object.values(columns).some((column) => column.includes('{n}'));
  return Array.from({ length: isNumbered ? upTo : 1 }, (_, index) =>
    namedColumns(columns, '{n}', String(index + 1)),
  );
}

const usualUpTo = 20;

function splitGroup(cells: Cells, columns: NamedColumns, separator?: string): FoundConnectors {
  const members = columns.map(([name, column]) => {
    const value = cells.get(column) ?? '';
    const parts = separator === undefined ? [value] : value.split(separator);
    return { name, column, value, parts: parts.map((part) => part.trim()).filter((part) => part !== '') };
  });
  const count = Math.max(0, ...members.map(({ parts }) => parts.length));
  // A single part applies to all connectors; otherwise there must be one part per connector.
  const problems = members
    .filter(({ parts }) => parts.length > 1 && parts.length !== count)
    .map(({ column, value }) => ({ column, value, why: `is not one of each for ${count} connectors` }));
  const fitting = members.filter(({ parts }) => parts.length === 1 || parts.length === count);
  const connectors = Array.from(
    { length: count },
    (_, index) => new Map(fitting.map(({ name, parts }) => [name, parts[index] ?? parts[0] ?? ''])),
  );
  return { connectors, problems };
}

/** Columns `socket:type2`, `socket:chademo` …, written `socket:{type}`. The cell is the number of connectors of that type. */
function fromCounts(cells: Cells, counted: string, columns: Record<string, string>): FoundConnectors {
  const pattern = patternOf(counted);
  const found: FoundConnectors = { connectors: [], problems: [] };
  for (const [column, value] of cells) {
    const type = pattern.exec(column)?.groups?.type;
    if (type === undefined || value === '') continue;
    const count = countOf(value);
    if (count === undefined)
      found.problems.push({ column, value, why: 'is not a number of connectors: imported as one' });
    const members = namedColumns(columns, '{type}', type).map(
      ([name, from]) => [name, cells.get(from) ?? ''] as const,
    );
    for (let number = 0; number < (count ?? 1); number += 1)
      found.connectors.push(new Map([['type', type], ...members]));
  }
  return found;
}

const maxCount = 1_000;

function countOf(value: string): number | undefined {
  if (/^(no|false)$/i.test(value)) return 0;
  if (/^(yes|true)$/i.test(value)) return 1;
  const count = readNumber(value);
  return count !== undefined && Number.isInteger(count) && count >= 0 && count <= maxCount
    ? count
    : undefined;
}

type NamedColumns = [name: string, column: string][];

function namedColumns(columns: Record<string, string>, placeholder: string, name: string): NamedColumns {
  return Object.entries(columns).map(([member, column]) => [member, column.replaceAll(placeholder, name)]);
}

/** `{type}` is one word between colons. */
function patternOf(column: string): RegExp {
  const source = column.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace('{type}', '(?<type>[^:]+)');
  return new RegExp(`^${source}$`);
}

function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value).trim();
}
