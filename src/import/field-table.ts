import { isJsonObject, type Json } from '../protocol/json.ts';
import type { Report } from './station.ts';

/** The target of each field of a format. The import, `import explain` and docs/charging.md share this table. */
export type FieldTable = ReturnType<typeof fieldTable>;

/** @param around matches the names of members that are not part of a path */
export function fieldTable(fields: readonly (readonly [path: string, destination: string])[], around = /^$/) {
  // Each field with all its parents: `evses.connectors.id`, `evses.connectors`, `evses`.
  const carried = fields.flatMap(([path]) =>
    path.split('.').map((_, index, names) => names.slice(0, index + 1).join('.')),
  );
  const below = (path: string, name: string) =>
    around.test(name) ? path : path === '' ? name : `${path}.${name}`;
  return { destinations: new Map(fields), carried: new Set(carried), below };
}

/** Reports each field with a value but without a target, once. If no field inside another one has a target, only the outer one is reported. */
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
