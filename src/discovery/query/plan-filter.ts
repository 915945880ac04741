import type { Json } from '../../protocol/json.ts';
import { indexCondition } from '../../rules/filters/conditions.ts';
import { type IndexCondition, type IndexLeaf, memberNames } from '../../rules/filters/index-condition.ts';
import { findLocalSegments, localFilter } from '../../rules/filters/local-filter.ts';
import { type Filter, parseFilter } from '../../rules/filters/parse.ts';
import type { Bound, DocumentCheck, Lead, NumberLead } from '../../storage/discovery-candidates.ts';
import { lookupOf, maxFactText, numberPath, objectFact, valueFact } from '../index-entries.ts';
import { isCheap } from './filter-shape.ts';

/** How a filter is answered. */
export interface FilterPlan {
  filter: Filter;
  /** Whether it selects something in a resource, for a filter that looks at each resource by itself. */
  test?: (resource: Json) => boolean;
  /** Alternatives to start from, each of which leads to every resource that the filter selects. */
  leads: Lead[];
  /** What the document of every selected resource satisfies; undefined where nothing is known. */
  check?: DocumentCheck;
  /** The check decides: nothing is left to evaluate. */
  exact: boolean;
  /** A document is evaluated in a time that its size bounds. */
  cheap: boolean;
}

export function planFilter(expression: string, options: { acceptPostfix: boolean }): FilterPlan {
  const filter = parseFilter(expression, options);
  const { condition, isExact } = indexCondition(filter.query);
  const segments = findLocalSegments(filter.query);
  const test = localFilter(filter.query);
  return {
    filter,
    ...(test && { test }),
    leads: leadsOf(condition),
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

/** One lead is enough of a conjunction; a disjunction needs them all. */
function leadsOf(condition: IndexCondition): Lead[] {
  switch (condition.kind) {
    case 'always':
      return [];
    case 'never':
      return [{ kind: 'facts', hashes: [] }];
    case 'and':
      return joinRanges(condition.conditions).flatMap((part) =>
        'lead' in part ? [part.lead] : leadsOf(part),
      );
    case 'or': {
      const leads = condition.conditions.map((part) => leadsOf(part)[0]);
      return leads.includes(undefined)
        ? []
        : [{ kind: 'any', leads: leads.filter((lead) => lead !== undefined) }];
    }
    default:
      return leafLead(condition);
  }
}

function leafLead(leaf: IndexLeaf): Lead[] {
  if (leaf.path[0] === 'child') return []; // a resource is an object: anything may stand there
  const { path, objects } = lookupOf(leaf.path);
  const hashes = objects.map(objectFact);
  switch (leaf.kind) {
    case 'exists':
      return [];
    case 'equals': {
      const { value } = leaf;
      if (typeof value === 'number') {
        const bound: Bound = { value, inclusive: true };
        return [either(numbers(path, bound, bound), hashes)];
      }
      if (typeof value === 'string' && value.length > maxFactText) return [];
      return [{ kind: 'facts', hashes: [valueFact(path, value), ...hashes] }];
    }
    case 'range': {
      const { low, high } = boundsOf(leaf);
      return [either(numbers(path, low, high), hashes)];
    }
  }
}

function either(lead: NumberLead, hashes: number[]): Lead {
  return hashes.length === 0 ? lead : { kind: 'any', leads: [lead, { kind: 'facts', hashes }] };
}

function numbers(path: string, low: Bound | undefined, high: Bound | undefined): NumberLead {
  return { kind: 'numbers', path: numberPath(path), low, high, order: 'value' };
}

function boundsOf({ operator, value }: IndexLeaf & { kind: 'range' }): { low?: Bound; high?: Bound } {
  const bound: Bound = { value, inclusive: operator === '<=' || operator === '>=' };
  return operator.startsWith('>') ? { low: bound } : { high: bound };
}

/** Two bounds on the same member are one range. Below an array they may be met by different elements. */
function joinRanges(conditions: readonly IndexCondition[]): (IndexCondition | { lead: Lead })[] {
  const ranges = new Map<string, { low?: Bound; high?: Bound; path: string }>();
  const others: IndexCondition[] = [];
  for (const condition of conditions) {
    if (condition.kind !== 'range' || memberNames(condition.path) === undefined) {
      others.push(condition);
      continue;
    }
    const { path } = lookupOf(condition.path);
    const { low, high } = boundsOf(condition);
    const known = ranges.get(path);
    ranges.set(path, { path, low: tighter(known?.low, low, 1), high: tighter(known?.high, high, -1) });
  }
  return [
    ...others,
    ...[...ranges.values()].map(({ path, low, high }) => ({ lead: numbers(path, low, high) })),
  ];
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
