/**
 * A question to an index about a resource: "some value at this path is so". A filter becomes a condition that is true for every resource that it selects, and usually for more (conditions.ts).
 *
 * The index must not be narrower either. A number is a double, as in JSON.parse. An index may always look into arrays, but must not find only elements if the path says `child`.
 */
export type IndexCondition =
  | { kind: 'always' }
  | { kind: 'never' }
  | { kind: 'and' | 'or'; conditions: IndexCondition[] }
  | IndexLeaf;

type IndexLeaf =
  | { kind: 'equals'; path: IndexPath; value: null | boolean | number | string }
  | { kind: 'range'; path: IndexPath; operator: RangeOperator; value: number }
  /** Any value, including null. */
  | { kind: 'exists'; path: IndexPath };

type RangeOperator = '<' | '<=' | '>' | '>=';

/** Starts at a resource; never empty. */
export type IndexPath = readonly IndexStep[];

/** Into a member of an object, into any element of an array, or into any child of either. */
export type IndexStep = { name: string } | 'element' | 'child';

export const always: IndexCondition = { kind: 'always' };
export const never: IndexCondition = { kind: 'never' };

export function and(conditions: readonly IndexCondition[]): IndexCondition {
  const joined = join('and', conditions, always, never);
  return joined.kind === 'and' ? join('and', withoutImplied(joined.conditions), always, never) : joined;
}

export function or(conditions: readonly IndexCondition[]): IndexCondition {
  return join('or', conditions, never, always);
}

export function memberNames(path: IndexPath): string[] | undefined {
  const names = path.flatMap((step) => (typeof step === 'object' ? [step.name] : []));
  return names.length === path.length ? names : undefined;
}

/** Whether it concerns only members: an index is slightly less exact about elements of arrays and about children of any kind. */
export function isOfMembers(condition: IndexCondition): boolean {
  if ('conditions' in condition) return condition.conditions.every(isOfMembers);
  return !('path' in condition) || memberNames(condition.path) !== undefined;
}

/** The remaining condition if an index cannot answer some leaves: still never narrower. */
export function weaken(condition: IndexCondition, canAnswer: (leaf: IndexLeaf) => boolean): IndexCondition {
  switch (condition.kind) {
    case 'always':
    case 'never':
      return condition;
    case 'and':
      return and(condition.conditions.map((part) => weaken(part, canAnswer)));
    case 'or':
      return or(condition.conditions.map((part) => weaken(part, canAnswer)));
    default:
      return canAnswer(condition) ? condition : always;
  }
}

/** Drops conditions that others imply: a path exists if a longer one does. */
function withoutImplied(conditions: readonly IndexCondition[]): IndexCondition[] {
  const implied = new Set<string>();
  for (const condition of conditions) {
    if (!('path' in condition)) continue;
    const { kind, path } = condition;
    const prefixes = path.map((_, steps) => path.slice(0, steps));
    for (const prefix of kind === 'exists' ? prefixes : [...prefixes, path])
      implied.add(JSON.stringify(prefix));
  }
  return conditions.filter(
    (condition) => condition.kind !== 'exists' || !implied.has(JSON.stringify(condition.path)),
  );
}

function join(
  kind: 'and' | 'or',
  conditions: readonly IndexCondition[],
  neutral: IndexCondition,
  decisive: IndexCondition,
): IndexCondition {
  const parts = conditions
    .flatMap((condition) => (condition.kind === kind ? condition.conditions : [condition]))
    .filter((condition) => condition.kind !== neutral.kind);
  if (parts.some((condition) => condition.kind === decisive.kind)) return decisive;
  const [first, ...others] = parts;
  if (first === undefined) return neutral;
  return others.length === 0 ? first : { kind, conditions: parts };
}
