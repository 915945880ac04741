import { isJsonObject, type Json } from '../protocol/json.ts';
import type { Report } from './report.ts';

/** Where the fields of a format go: the one table that its import, `import explain` and docs/charging.md agree on. */
export interface FieldTable {
  /** By path. A field that is not here has no place in a catalog of EV chargers. */
  destinations: ReadonlyMap<string, string>;
  /** Each field with everything that it is in: `evses.connectors.id`, `evses.connectors`, `evses`. */
  carried: ReadonlySet<string>;
  /** A path in a document as the table has it. */
  pathOf(path: string): string;
}

export function fieldTable(
  fields: readonly (readonly [path: string, destination: string])[],
  pathOf = (path: string) => path,
): FieldTable {
  const carried = fields.flatMap(([path]) => {
    const names = path.split('.');
    return names.map((_, index) => names.slice(0, index + 1).join('.'));
  });
  return { destinations: new Map(fields), carried: new Set(carried), pathOf };
}

/** Reports each field that holds something and goes nowhere, once. If nothing inside a field goes anywhere, only the outer field is reported. */
export function noteRest(
  value: Json,
  path: string,
  { destinations, carried, pathOf }: FieldTable,
  report: Report,
): void {
  const noted = new Set<string>();
  const visit = (value: Json, path: string): void => {
    const column = pathOf(path);
    if (value === null || value === '' || noted.has(column) || destinations.has(column)) return;
    if (Array.isArray(value)) for (const item of value) visit(item, path);
    else if (column !== '' && !carried.has(column)) {
      noted.add(column);
      report('is not imported: a catalog of chargers has no place for it', { column, kind: 'note' });
    } else if (isJsonObject(value))
      for (const [name, member] of Object.entries(value))
        visit(member, path === '' ? name : `${path}.${name}`);
  };
  visit(value, path);
}
