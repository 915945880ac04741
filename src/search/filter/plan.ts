import type { Json } from '../../protocol/json.ts';
import { type AskedCondition, catalogCondition, indexCondition } from '../../rules/filters/conditions.ts';
import {
  type IndexCondition,
  type IndexPath,
  isOfMembers,
  memberNames,
} from '../../rules/filters/index-condition.ts';
import { findLocalSegments, isName, localFilter } from '../../rules/filters/local-filter.ts';
import { type Filter, parseFilter } from '../../rules/filters/parse.ts';
import type { Level } from '../entries/attributes.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import { columnList } from '../lists/list-numbers.ts';

type AttributeFormat = IndexFormat['attributes'];

/** How a filter is answered. */
export interface FilterPlan {
  filter: Filter;
  /** The filter for a thread, which parses it again. */
  source: FilterSource;
  /** Lookups that find all selected documents: catalogs by their members, resources, and offers, which stand for their resources. */
  lookups: Partial<Record<Level, Lookup>>;
  /** The lookups decide: nothing has to be evaluated. */
  exact: boolean;
  /** Whether it selects something in a resource, for a filter that examines each resource separately. */
  test?: (resource: Json) => boolean;
  /** It examines each offer separately. */
  isOfOffers: boolean;
  /** The size of a document limits the time of its evaluation. */
  cheap: boolean;
  /** Whether a resource may be selected. Excludes hash collisions and documents that have changed since. */
  check?: (resource: Json) => boolean;
}

export interface FilterSource {
  expression: string;
  acceptPostfix: boolean;
}

/** A lookup in the lists of one level. */
interface Lookup {
  source: Source;
  /** The source finds nothing else. */
  exact: boolean;
}

/** Where documents are found: in the list of a fact, in a column with a number in the range, in any of several sources, or in all of them. */
export type Source =
  | { kind: 'fact'; list: number }
  | { kind: 'column'; list: number; range: NumberRange }
  | { kind: 'any' | 'all'; sources: readonly Source[] }
  /** The source misses many documents if some document has an object at one of these paths (entries/attributes.ts). */
  | { kind: 'unless objects'; paths: readonly string[]; source: Source };

/** Both bounds are inclusive. */
interface NumberRange {
  least: number;
  most: number;
}

/** Throws SCH_INVALID_JSONPATH. */
export function planFilter(source: FilterSource, attributes: AttributeFormat): FilterPlan {
  const filter = parseFilter(source.expression, source);
  const { query } = filter;
  const segments = findLocalSegments(query, 'resources', { inAny: true });
  const isOfOffers = findLocalSegments(query, 'offers') !== undefined;
  const catalog = catalogCondition(query);
  const resource = indexCondition(query, 'resources', { inAny: true });
  const offer = indexCondition(query, 'offers', { inAny: true });
  const lookups = {
    ...lookupAt('catalog', catalog, attributes),
    ...lookupAt('resource', resource, attributes),
    ...lookupAt('offer', offer, attributes),
  };
  const isOfList = isName(query.segments[2], 'resources') || isName(query.segments[2], 'offers');
  const isOfCatalogs = isDecided(catalog, lookups.catalog);
  const isOfResources = segments ? isDecided(resource, lookups.resource) : !isOfList;
  const test = localFilter(query);
  const cheap = segments !== undefined && isCheap(segments);
  const check = cheap ? localFilter(query, 'resources', { inAny: true }) : undefined;
  return {
    filter,
    source,
    lookups,
    // Offers are tested before the resources that they cover are read.
    exact: isOfOffers || (isOfCatalogs && isOfResources),
    ...(test && { test }),
    isOfOffers,
    cheap,
    ...(check && { check }),
  };
}

/** There is no condition, or the lists decide it exactly. */
function isDecided({ condition, isExact }: AskedCondition, lookup: Lookup | undefined): boolean {
  return isExact && isOfMembers(condition) && (condition.kind === 'always' || lookup?.exact === true);
}

function lookupAt(level: Level, { condition, isExact }: AskedCondition, format: AttributeFormat) {
  const found = lookupOf(condition, level, format);
  return found ? { [level]: { source: found.source, exact: found.exact && isExact } } : {};
}

/** Undefined if the lists cannot decide. */
function lookupOf(condition: IndexCondition, level: Level, format: AttributeFormat): Lookup | undefined {
  switch (condition.kind) {
    case 'always':
      return undefined;
    case 'never':
      return { source: { kind: 'any', sources: [] }, exact: true };
    case 'and': {
      const parts = groupsOf(condition.conditions).map((group) => lookupGroup(group, level, format));
      const known = parts.filter((part) => part !== undefined);
      if (known.length === 0) return undefined;
      const exact = known.length === parts.length && known.every((part) => part.exact);
      return { source: { kind: 'all', sources: known.map(({ source }) => source) }, exact };
    }
    case 'or': {
      const parts = condition.conditions.map((each) => lookupOf(each, level, format));
      if (!parts.every((part) => part !== undefined)) return undefined;
      const exact = parts.every((part) => part.exact);
      return { source: { kind: 'any', sources: parts.map(({ source }) => source) }, exact };
    }
    default:
      return lookupGroup([condition], level, format);
  }
}

/** Two bounds on the same member are one range. Below an array, different elements may satisfy them. */
function groupsOf(conditions: readonly IndexCondition[]): IndexCondition[][] {
  const groups = new Map<unknown, IndexCondition[]>();
  for (const condition of conditions) {
    const isMember = condition.kind === 'range' && memberNames(condition.path) !== undefined;
    const group = isMember ? JSON.stringify(condition.path) : condition;
    groups.set(group, [...(groups.get(group) ?? []), condition]);
  }
  return [...groups.values()];
}

/** The lookup of one condition, or of several bounds on one member. */
function lookupGroup(group: readonly IndexCondition[], level: Level, format: AttributeFormat) {
  const [condition] = group;
  const column = (path: string, range: NumberRange): Source => ({
    ...{ kind: 'column', list: columnList(format.numberPath(path)), range },
  });
  switch (condition?.kind) {
    case 'range':
      return lookupPath(condition.path, level, format, (path) => column(path, rangeOf(group)));
    case 'equals': {
      const { value } = condition;
      if (typeof value === 'string' && value.length > format.maxFactText) return undefined;
      return lookupPath(condition.path, level, format, (path) =>
        typeof value === 'number'
          ? column(path, { least: value, most: value })
          : { kind: 'fact', list: format.valueFact(path, value) },
      );
    }
    case 'exists':
      return lookupPath(condition.path, level, format, (path) => ({
        kind: 'any',
        sources: [{ kind: 'fact', list: format.presenceFact(path) }, column(path, everyNumber)],
      }));
    default:
      return condition && lookupOf(condition, level, format);
  }
}

function lookupPath(
  path: IndexPath,
  level: Level,
  format: AttributeFormat,
  sourceAt: (path: string) => Source,
): Lookup | undefined {
  // A document is an object, so its children may be anything.
  if (path[0] === 'child') return undefined;
  const { path: at, unlessObjects } = format.lookupOf(path, level);
  const source = sourceAt(at);
  return {
    source: unlessObjects.length > 0 ? { kind: 'unless objects', paths: unlessObjects, source } : source,
    exact: memberNames(path) !== undefined,
  };
}

const everyNumber: NumberRange = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY };

/** The range of numbers that satisfies all bounds. */
function rangeOf(group: readonly IndexCondition[]): NumberRange {
  let { least, most } = everyNumber;
  for (const bound of group) {
    if (bound.kind !== 'range') continue;
    const { operator, value } = bound;
    if (operator === '>=' || operator === '>')
      least = Math.max(least, operator === '>' ? beside(value, 1) : value);
    else most = Math.min(most, operator === '<' ? beside(value, -1) : value);
  }
  return { least, most };
}

/** The next larger or smaller number. */
function beside(value: number, direction: 1 | -1): number {
  if (value === 0) return direction * Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(value > 0 ? direction : -direction));
  return view.getFloat64(0);
}

/** Whether the size of a document limits the time of its evaluation. `..` inside filters, and several selectors in one step, can multiply. */
function isCheap(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return true;
  if ('descendants' in part && 'selectors' in part)
    if (part.descendants || (part.selectors as unknown[]).length > 1) return false;
  // Linear in the text, but multiplied by the size of the pattern: one long text can take seconds.
  if ('kind' in part && ['match', 'search', 'like'].includes(part.kind as string)) return false;
  return Object.values(part).every(isCheap);
}
