import { isJsonObject, type Json, type JsonObject, quoteName } from '../protocol/json.ts';
import { isSameValue } from './same-value.ts';

// Lists the differences between two versions of a catalog for people: members by their paths, resources and offers by their ids.

export interface CatalogChange {
  /** JSONPath; a resource or offer is named by its id: `$.resources[?@.id=='x'].descriptor.name`. */
  path: string;
  kind: 'added' | 'removed' | 'changed';
  before?: Json;
  after?: Json;
}

export interface ComparedCatalog {
  members: JsonObject;
  resources: ReadonlyMap<string, Json>;
  offers: ReadonlyMap<string, Json>;
}

interface CompareOptions {
  maxChanges: number;
  /** Whether members that only the first edition has are no difference: members of the catalog itself, or of a resource. */
  isPartial?(list: 'members' | 'resources', id?: string): boolean;
}

export function compareCatalogs(
  before: ComparedCatalog,
  after: ComparedCatalog,
  { maxChanges, isPartial = () => false }: CompareOptions,
): { changes: CatalogChange[]; truncated: boolean } {
  const changes: CatalogChange[] = [];
  for (const change of streamChanges(before, after, isPartial)) {
    if (changes.length === maxChanges) return { changes, truncated: true };
    changes.push(change);
  }
  return { changes, truncated: false };
}

function* streamChanges(
  before: ComparedCatalog,
  after: ComparedCatalog,
  isPartial: NonNullable<CompareOptions['isPartial']>,
): Generator<CatalogChange> {
  yield* compareValues('$', before.members, after.members, isPartial('members'));
  for (const list of ['resources', 'offers'] as const) {
    for (const id of new Set([...before[list].keys(), ...after[list].keys()])) {
      const path = `$.${list}[?@.id==${quoteName(id)}]`;
      const partial = list === 'resources' && isPartial(list, id);
      yield* compareValues(path, before[list].get(id), after[list].get(id), partial);
    }
  }
}

function* compareValues(
  path: string,
  before: Json | undefined,
  after: Json | undefined,
  isPartial: boolean,
): Generator<CatalogChange> {
  if (isSameValue(before, after)) return;
  if (before === undefined) yield { path, kind: 'added', after };
  else if (after === undefined) {
    if (!isPartial) yield { path, kind: 'removed', before };
  } else if (isJsonObject(before) && isJsonObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const at = /^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}[${quoteName(name)}]`;
      yield* compareValues(at, before[name] as Json, after[name] as Json, isPartial);
    }
  } else yield { path, kind: 'changed', before, after };
}
