import type { Json } from '../../protocol/json.ts';
import { indexCondition } from '../../rules/filters/conditions.ts';
import {
  and,
  type IndexCondition,
  type IndexPath,
  isOfMembers,
  memberNames,
} from '../../rules/filters/index-condition.ts';
import { findLocalSegments, localFilter } from '../../rules/filters/local-filter.ts';
import { type Filter, parseFilter } from '../../rules/filters/parse.ts';
import type { Condition, Segment, ValueExpression } from '../../rules/jsonpath/grammar.ts';
import type { AttributeFormat, IndexFormat } from '../format/index-format.ts';
import type { Bound, NumberRange } from '../lists/read-parts.ts';
import type { DocumentCheck } from './check-documents.ts';
import { buildCheck } from './document-check.ts';

/** How a filter is answered. */
export interface FilterPlan {
  filter: Filter;
  /** Whether it selects something in a resource, for a filter that looks at each resource by itself. */
  test?: (resource: Json) => boolean;
  /** What every selected resource satisfies. */
  condition: IndexCondition;
  /** What the index knows: each part leads to every resource that the filter selects. */
  parts: FilterPart[];
  /** What the document of every selected resource satisfies, apart from what some parts decide; undefined where nothing is left. */
  checkBeside(decided: readonly FilterPart[]): DocumentCheck | undefined;
  /** The parts and the check decide: nothing is left to evaluate. */
  exact: boolean;
  /** A document is evaluated in a time that its size bounds. */
  cheap: boolean;
  /** For a filter that looks at each offer by itself. */
  offers?: OfferPlan;
}

interface OfferPlan {
  /** What the document of every offer satisfies that it selects. */
  check?: DocumentCheck;
  /** Only an offer with some value can: then an index leads to such offers. */
  asksForValue: boolean;
  /** The check decides. */
  exact: boolean;
}

export interface FilterPart {
  source: Source;
  /** It leads to nothing else: what it stands for need not be checked. */
  decides: boolean;
  /** It leads nowhere near all of them where a resource has an object at one of these paths (write/attribute-entries.ts). */
  unlessObjects: string[];
  /** What it stands for. */
  conditions: readonly IndexCondition[];
}

/** Where resources are found: in the list of a fact, among numbers, or in any of several. */
export type Source =
  | { kind: 'fact'; hash: number }
  | ({ kind: 'numbers' } & NumberRange)
  | { kind: 'any'; sources: readonly Source[] };

interface FilterOptions {
  acceptPostfix: boolean;
  /** Those of which the index has entries. */
  formats: readonly IndexFormat[];
}

export function planFilter(expression: string, options: FilterOptions): FilterPlan {
  const filter = parseFilter(expression, options);
  const { condition, isExact } = indexCondition(filter.query);
  const segments = findLocalSegments(filter.query);
  const test = localFilter(filter.query);
  const conditions = condition.kind === 'and' ? condition.conditions : [condition];
  return {
    filter,
    condition,
    ...(test && { test }),
    parts: joinParts(
      options.formats.map(({ attributes }) =>
        groupsOf(conditions, attributes).flatMap((group) => partsOf(group, attributes)),
      ),
    ),
    checkBeside: (decided) => {
      const known = new Set(decided.flatMap((part) => (part.decides ? part.conditions : [])));
      return buildCheck(and(conditions.filter((each) => !known.has(each))));
    },
    exact: isExact && isOfMembers(condition),
    cheap: segments !== undefined && isCheap(segments),
    ...(findLocalSegments(filter.query, 'offers') && { offers: planOffers(filter) }),
  };
}

/** What leads to the same in several formats: where their lookups differ, those of each, and what they find is checked on the documents. */
function joinParts([first = [], ...others]: readonly FilterPart[][]): FilterPart[] {
  return first.flatMap((part, index) => {
    const all = [part, ...others.map((parts) => parts[index])].filter((each) => each !== undefined);
    const isSame = (other: FilterPart) =>
      other.conditions.every((each, index) => each === part.conditions[index]);
    if (all.length <= others.length || !all.every(isSame)) return [];
    if (all.every(({ source }) => JSON.stringify(source) === JSON.stringify(part.source))) return [part];
    return joinAlternatives(all, part.conditions).map((joined) => ({ ...joined, decides: false }));
  });
}

function planOffers({ query }: Filter): OfferPlan {
  const { condition, isExact } = indexCondition(query, 'offers');
  return {
    check: buildCheck(condition),
    asksForValue: asksForValue(condition),
    exact: isExact && isOfMembers(condition),
  };
}

/** Whether it holds only for what has one of some values. */
function asksForValue(condition: IndexCondition): boolean {
  switch (condition.kind) {
    case 'equals':
      return !condition.path.includes('child');
    case 'and':
      return condition.conditions.some(asksForValue);
    case 'or':
      return condition.conditions.every(asksForValue);
    default:
      return condition.kind === 'never';
  }
}

/** Two bounds on the same member are one range. Below an array they may be met by different elements. */
function groupsOf(conditions: readonly IndexCondition[], { lookupOf }: AttributeFormat): IndexCondition[][] {
  const groups = new Map<unknown, IndexCondition[]>();
  for (const condition of conditions) {
    const isMember = condition.kind === 'range' && memberNames(condition.path) !== undefined;
    const group = isMember ? lookupOf(condition.path).path : condition;
    groups.set(group, [...(groups.get(group) ?? []), condition]);
  }
  return [...groups.values()];
}

/** The parts of one condition, or of several bounds on one member. */
function partsOf(group: readonly IndexCondition[], format: AttributeFormat): FilterPart[] {
  const [condition] = group;
  switch (condition?.kind) {
    case 'range':
      return partAt(condition.path, group, format, (path) => rangeSource(path, group, format));
    case 'equals': {
      const { value } = condition;
      if (typeof value === 'string' && value.length > format.maxFactText) return [];
      return partAt(condition.path, group, format, (path) => equalitySource(path, value, format));
    }
    case 'never':
      return [{ source: { kind: 'any', sources: [] }, decides: true, unlessObjects: [], conditions: group }];
    case 'and':
      return groupsOf(condition.conditions, format)
        .flatMap((each) => partsOf(each, format))
        .map((part) => ({ ...part, decides: false, conditions: group }));
    case 'or':
      return joinAlternatives(
        condition.conditions.map((each) => partsOf([each], format)[0]),
        group,
      );
    default:
      return [];
  }
}

/** A disjunction is led to by the parts of all its conditions together. */
function joinAlternatives(
  parts: readonly (FilterPart | undefined)[],
  conditions: readonly IndexCondition[],
): FilterPart[] {
  const found = parts.filter((part) => part !== undefined);
  if (found.length < parts.length) return [];
  return [
    {
      source: { kind: 'any', sources: found.map(({ source }) => source) },
      decides: found.every(({ decides }) => decides),
      unlessObjects: found.flatMap(({ unlessObjects }) => unlessObjects),
      conditions,
    },
  ];
}

function partAt(
  path: IndexPath,
  conditions: readonly IndexCondition[],
  { lookupOf }: AttributeFormat,
  sourceAt: (path: string) => Source,
): FilterPart[] {
  // A resource is an object: as its child, anything may stand anywhere.
  if (path[0] === 'child') return [];
  const { path: at, unlessObjects } = lookupOf(path);
  return [{ source: sourceAt(at), decides: memberNames(path) !== undefined, unlessObjects, conditions }];
}

function equalitySource(
  path: string,
  value: string | number | boolean | null,
  { valueFact, numberPath }: AttributeFormat,
): Source {
  if (typeof value !== 'number') return { kind: 'fact', hash: valueFact(path, value) };
  const bound: Bound = { value, inclusive: true };
  return { kind: 'numbers', path: numberPath(path), low: bound, high: bound };
}

function rangeSource(
  path: string,
  group: readonly IndexCondition[],
  { numberPath }: AttributeFormat,
): Source {
  let low: Bound | undefined;
  let high: Bound | undefined;
  for (const each of group) {
    if (each.kind !== 'range') continue;
    const bound = { value: each.value, inclusive: each.operator === '<=' || each.operator === '>=' };
    if (each.operator.startsWith('>')) low = pickTighter(low, bound, 1);
    else high = pickTighter(high, bound, -1);
  }
  return { kind: 'numbers', path: numberPath(path), low, high };
}

function pickTighter(a: Bound | undefined, b: Bound, sign: 1 | -1): Bound {
  if (a === undefined) return b;
  if (a.value === b.value) return a.inclusive ? b : a;
  return (a.value - b.value) * sign > 0 ? a : b;
}

/**
 * Whether one document is evaluated in a time that its size bounds: every step goes to children of what the step before it found, none
 * twice. `..` inside filters, and several selectors in one step, can multiply.
 */
function isCheap(segments: readonly Segment[]): boolean {
  return segments.every(
    ({ descendants, selectors: [selector, ...more] }) =>
      !descendants &&
      more.length === 0 &&
      (selector === undefined || !('condition' in selector) || isCheapCondition(selector.condition)),
  );
}

function isCheapCondition(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.every(isCheapCondition);
    case 'not':
      return isCheapCondition(condition.condition);
    case 'exists':
      return isCheap(condition.query.segments);
    case 'comparison':
      return isCheapValue(condition.left) && isCheapValue(condition.right);
    // Linear in the text, but times the size of the pattern: one long text can take seconds.
    case 'match':
    case 'search':
    case 'like':
      return false;
  }
}

function isCheapValue(expression: ValueExpression): boolean {
  switch (expression.kind) {
    case 'literal':
      return true;
    case 'length':
      return isCheapValue(expression.argument);
    default:
      return isCheap(expression.query.segments);
  }
}
