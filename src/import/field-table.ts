import { isJsonObject, type Json } from '../protocol/json.ts';
import type { Report } from './report.ts';

/** Where the fields of a format go: the one table that its import, `import explain` and docs/charging.md agree on. */
export type FieldTable = ReturnType<typeof fieldTable>;

/** @param around matches the names of members that are no part of a path */
export function fieldTable(fields: readonly (readonly [path: string, destination: string])[], around = /^$/) {
  // Each field with everything that it is in: `evses.connectors.id`, `evses.connectors`, `evses`.
  const carried = fields.flatMap(([path]) =>
    path.split('.').map((_, index, names) => names.slice(0, index + 1).join('.')),
  );
  const below = (path: string, name: string) =>
    around.test(name) ? path : path === '' ? name : `${path}.${name}`;
  return { destinations: new Map(fields), carried: new Set(carried), below };
}

/** Reports each field that holds something and goes nowhere, once. If nothing inside a field goes anywhere, only the outer field is reported. */
export function noteRest(
  value: Json,
  path: string,
  { destinations, carried, below }: FieldTable,
  report: Report,
): void {
  const noted = new Set<string>();
  const visit = (value: Json, column: string): void => {
    if (value === null || value === '' || noted.has(column) || destinations.has(column)) return;
    if (Array.isArray(value)) for (const item of value) visit(item, column);
    else if (column !== '' && !carried.has(column)) {
      noted.add(column);
      report('is not imported: a catalog of chargers has no place for it', { column, kind: 'note' });
    } else if (isJsonObject(value))
      for (const [name, member] of Object.entries(value)) visit(member, below(column, name));
  };
  visit(value, path);
}
