import type { Json } from '../../protocol/json.ts';
import { indexCondition } from '../../rules/filters/conditions.ts';
import {
  and,
  type IndexCondition,
  type IndexLeaf,
  type IndexPath,
  memberNames,
} from '../../rules/filters/index-condition.ts';
import { findLocalSegments, localFilter } from '../../rules/filters/local-filter.ts';
import { type Filter, parseFilter } from '../../rules/filters/parse.ts';
import type { Bound, DocumentCheck, Lead, NumberLead } from '../../storage/discovery-candidates.ts';
import { lookupOf, maxFactText, numberPath, valueFact } from '../index-entries.ts';
import { isCheap } from './filter-shape.ts';

/** How a filter is answered. */
export interface FilterPlan {
  filter: Filter;
  /** Whether it selects something in a resource, for a filter that looks at each resource by itself. */
  test?: (resource: Json) => boolean;
  /** Alternatives to start from, each of which leads to every resource that the filter selects. */
  leads: FilterLead[];
  /** What the document of every selected resource satisfies; undefined where nothing is known. */
  check?: DocumentCheck;
  /** The check decides: nothing is left to evaluate. */
  exact: boolean;
  /** A document is evaluated in a time that its size bounds. */
  cheap: boolean;
}

export interface FilterLead {
  lead: Lead;
  /** What it leaves to be checked; undefined where nothing is left. */
  check?: DocumentCheck;
  /** It leads nowhere near all of them where a resource has an object at one of these paths (index-entries.ts). */
  unlessObjects: string[];
}

export function planFilter(expression: string, options: { acceptPostfix: boolean }): FilterPlan {
  const filter = parseFilter(expression, options);
  const { condition, isExact } = indexCondition(filter.query);
  const segments = findLocalSegments(filter.query);
  const test = localFilter(filter.query);
  return {
    filter,
    ...(test && { test }),
    leads: planLeads(condition),
    check: findCheck(condition),
    exact: isExact && isExactCheck(condition),
    cheap: segments !== undefined && isCheap(segments),
  };
}

/** What is asked of elements is checked a little more widely than it is meant. */
function isExactCheck(condition: IndexCondition): boolean {
  if ('conditions' in condition) return condition.conditions.every(isExactCheck);
  return !('path' in condition) || memberNames(condition.path) !== undefined;
}

/** One lead is enough of a conjunction; the other conditions are checked. */
function planLeads(condition: IndexCondition): FilterLead[] {
  const conditions = condition.kind === 'and' ? condition.conditions : [condition];
  return groupsOf(conditions).flatMap((group) =>
    leadsOf(group).map(({ decides, ...lead }) => ({
      ...lead,
      check: findCheck(decides ? and(conditions.filter((each) => !group.includes(each))) : condition),
    })),
  );
}

/** Two bounds on the same member are one range. Below an array they may be met by different elements. */
function groupsOf(conditions: readonly IndexCondition[]): IndexCondition[][] {
  const groups = new Map<unknown, IndexCondition[]>();
  for (const condition of conditions) {
    const isMember = condition.kind === 'range' && memberNames(condition.path) !== undefined;
    const group = isMember ? lookupOf(condition.path).path : condition;
    groups.set(group, [...(groups.get(group) ?? []), condition]);
  }
  return [...groups.values()];
}

interface PartLead extends Omit<FilterLead, 'check'> {
  /** It leads to nothing else: what it stands for need not be checked. */
  decides: boolean;
}

/** The leads of one condition, or of several bounds on one member. */
function leadsOf(group: readonly IndexCondition[]): PartLead[] {
  const [condition, ...more] = group;
  if (condition === undefined) return [];
  if (condition.kind === 'range') return rangeLead(condition, group);
  if (more.length > 0) return [];
  switch (condition.kind) {
    case 'always':
    case 'exists':
      return [];
    case 'never':
      return [{ lead: { kind: 'facts', hashes: [] }, unlessObjects: [], decides: true }];
    case 'equals':
      return equalityLead(condition);
    case 'and':
      return groupsOf(condition.conditions)
        .flatMap(leadsOf)
        .map((lead) => ({ ...lead, decides: false }));
    case 'or':
      return anyLead(condition.conditions.map((part) => leadsOf([part])[0]));
  }
}

/** A disjunction needs a lead of every part. */
function anyLead(leads: readonly (PartLead | undefined)[]): PartLead[] {
  const found = leads.filter((lead) => lead !== undefined);
  if (found.length < leads.length) return [];
  return [
    {
      lead: { kind: 'any', leads: found.map(({ lead }) => lead) },
      unlessObjects: found.flatMap(({ unlessObjects }) => unlessObjects),
      decides: found.every(({ decides }) => decides),
    },
  ];
}

function equalityLead({ path, value }: IndexLeaf & { kind: 'equals' }): PartLead[] {
  if (!isIndexed(path)) return [];
  const { path: at, unlessObjects } = lookupOf(path);
  const decides = memberNames(path) !== undefined;
  if (typeof value === 'number') {
    const bound: Bound = { value, inclusive: true };
    return [{ lead: numbers(at, bound, bound), unlessObjects, decides }];
  }
  if (typeof value === 'string' && value.length > maxFactText) return [];
  return [{ lead: { kind: 'facts', hashes: [valueFact(at, value)] }, unlessObjects, decides }];
}

function rangeLead({ path }: IndexLeaf & { kind: 'range' }, group: readonly IndexCondition[]): PartLead[] {
  if (!isIndexed(path)) return [];
  const { path: at, unlessObjects } = lookupOf(path);
  let low: Bound | undefined;
  let high: Bound | undefined;
  for (const each of group) {
    if (each.kind !== 'range') continue;
    const bounds = boundsOf(each);
    low = tighter(low, bounds.low, 1);
    high = tighter(high, bounds.high, -1);
  }
  return [{ lead: numbers(at, low, high), unlessObjects, decides: memberNames(path) !== undefined }];
}

/** A resource is an object: as its child, anything may stand anywhere. */
function isIndexed(path: IndexPath): boolean {
  return path[0] !== 'child';
}

function numbers(path: string, low: Bound | undefined, high: Bound | undefined): NumberLead {
  return { kind: 'numbers', path: numberPath(path), low, high, order: 'value' };
}

function boundsOf({ operator, value }: IndexLeaf & { kind: 'range' }): { low?: Bound; high?: Bound } {
  const bound: Bound = { value, inclusive: operator === '<=' || operator === '>=' };
  return operator.startsWith('>') ? { low: bound } : { high: bound };
}

function tighter(a: Bound | undefined, b: Bound | undefined, sign: 1 | -1): Bound | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.value === b.value) return a.inclusive ? b : a;
  return (a.value - b.value) * sign > 0 ? a : b;
}

/** The condition on the document itself; what it cannot say is left out, so that it is never narrower than the condition. */
function findCheck(condition: IndexCondition): DocumentCheck | undefined {
  switch (condition.kind) {
    case 'always':
      return undefined;
    case 'never':
      return { kind: 'or', checks: [{ kind: 'has', jsonpath: 'strict $ ? (1 == 2)' }] };
    case 'and': {
      const checks = condition.conditions.flatMap((part) => findCheck(part) ?? []);
      return checks.length > 0 ? { kind: 'and', checks } : undefined;
    }
    case 'or': {
      const checks = condition.conditions.map(findCheck);
      return checks.includes(undefined)
        ? undefined
        : { kind: 'or', checks: checks.filter((check) => check !== undefined) };
    }
    default:
      return leafCheck(condition);
  }
}

function leafCheck(leaf: IndexLeaf): DocumentCheck | undefined {
  const path = findJsonpath(leaf);
  if (path === undefined) return undefined;
  switch (leaf.kind) {
    case 'exists':
      return { kind: 'has', jsonpath: path };
    case 'equals': {
      const names = memberNames(leaf.path);
      if (names === undefined)
        return { kind: 'matches', jsonpath: `${path} == ${JSON.stringify(leaf.value)}` };
      const document = names.reduceRight<unknown>((value, name) => ({ [name]: value }), leaf.value);
      return { kind: 'contains', json: JSON.stringify(document) };
    }
    case 'range':
      return { kind: 'matches', jsonpath: `${path} ${leaf.operator} ${leaf.value}` };
  }
}

/** Strict where only members are asked for: the lax mode would look into arrays as well, which is right for elements only. */
function findJsonpath({ path }: IndexLeaf): string | undefined {
  if (path.includes('child')) return undefined;
  const mode = memberNames(path) === undefined ? 'lax' : 'strict';
  const steps = path.map((step) => (typeof step === 'object' ? `.${JSON.stringify(step.name)}` : '[*]'));
  return `${mode} $${steps.join('')}`;
}
