import { comparisons } from '../jsonpath-compare.ts';
import type {
  ComparisonOperator,
  Condition,
  Query,
  Segment,
  Selector,
  ValueExpression,
} from '../jsonpath-grammar.ts';
import { always, and, type IndexCondition, type IndexPath, never, or } from './index-condition.ts';
import { findLocalSegments } from './local-filter.ts';

/**
 * What an index can be asked about the resources that a filter selects: a condition that each of them satisfies. `always`
 * where nothing can be said, as about a filter that looks beyond single resources.
 *
 * The traps are those of RFC 9535: nothing equals nothing, so that `@.a == @.b` holds where both are missing; `!=` and `!`
 * hold for what is missing or of another type; only numbers and texts are ordered, but `<=` and `>=` include equality
 * of everything.
 */
export function indexCondition(query: Query): IndexCondition {
  const [resource, ...rest] = findLocalSegments(query) ?? [];
  if (resource === undefined) return always;
  const isSelected = or(
    resource.selectors.map((selector) =>
      selector.kind === 'filter' ? conditionAt(selector.condition, []) : always,
    ),
  );
  return and([isSelected, reach(rest, [], exists)]);
}

/** Documents are not nested deeper than this. */
const maxSteps = 64;

/** What holds where the segments lead from a path to some node, about which `leaf` says the rest. */
function reach(
  segments: readonly Segment[],
  start: IndexPath,
  leaf: (path: IndexPath) => IndexCondition,
): IndexCondition {
  const found: IndexCondition[] = [];
  let path = start;
  for (const { descendants, selectors } of segments) {
    const steps = selectors.map((selector) => findStep(selector, path));
    const [only, ...others] = steps;
    if (descendants || path.length >= maxSteps || only === undefined) return and([...found, exists(path)]);
    // Beyond alternatives the paths would multiply.
    if (others.length > 0) {
      return and([
        ...found,
        or(steps.map((step) => (step ? and([exists(step.path), step.condition]) : always))),
      ]);
    }
    found.push(only.condition);
    path = only.path;
  }
  return and([...found, leaf(path)]);
}

function findStep(
  selector: Selector,
  path: IndexPath,
): { path: IndexPath; condition: IndexCondition } | undefined {
  switch (selector.kind) {
    case 'name':
      return isStorable(selector.name)
        ? { path: [...path, { name: selector.name }], condition: always }
        : undefined;
    case 'index':
    case 'slice':
      return { path: [...path, 'element'], condition: always };
    case 'wildcard':
      return { path: [...path, 'child'], condition: always };
    case 'filter': {
      const child: IndexPath = [...path, 'child'];
      return { path: child, condition: conditionAt(selector.condition, child) };
    }
    case 'self':
      return { path, condition: conditionAt(selector.condition, path) };
  }
}

/** What a resource satisfies that has a node at the path for which the condition holds. */
function conditionAt(condition: Condition, path: IndexPath): IndexCondition {
  switch (condition.kind) {
    case 'or':
      return or(condition.conditions.map((part) => conditionAt(part, path)));
    case 'and':
      return and(condition.conditions.map((part) => conditionAt(part, path)));
    case 'not':
      return negationAt(condition.condition, path);
    case 'exists':
      return reachFrom(condition.query, path, exists);
    case 'comparison':
      return comparisonAt(condition, path);
    case 'match':
    case 'search':
    case 'like':
      return somethingAt(condition.text, path);
  }
}

function negationAt(condition: Condition, path: IndexPath): IndexCondition {
  switch (condition.kind) {
    case 'or':
      return and(condition.conditions.map((part) => negationAt(part, path)));
    case 'and':
      return or(condition.conditions.map((part) => negationAt(part, path)));
    case 'not':
      return conditionAt(condition.condition, path);
    case 'comparison':
      return condition.operator === '!=' ? comparisonAt({ ...condition, operator: '==' }, path) : always;
    default:
      return always;
  }
}

function comparisonAt(
  { operator, left, right }: Condition & { kind: 'comparison' },
  path: IndexPath,
): IndexCondition {
  if (right.kind === 'literal') return literalComparisonAt(left, operator, right, path);
  if (left.kind === 'literal') return literalComparisonAt(right, mirrored[operator], left, path);
  const isOfSomething = operator === '<' || operator === '>';
  return isOfSomething ? and([somethingAt(left, path), somethingAt(right, path)]) : always;
}

const mirrored: Record<ComparisonOperator, ComparisonOperator> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function literalComparisonAt(
  expression: ValueExpression,
  operator: ComparisonOperator,
  { value }: Literal,
  path: IndexPath,
): IndexCondition {
  const holdsFor = (other: Literal['value'] | undefined) => comparisons[operator](other, value);
  if (holdsFor(undefined)) return always;
  switch (expression.kind) {
    case 'literal':
      return holdsFor(expression.value) ? always : never;
    case 'count':
      return holdsFor(0) ? always : reachFrom(expression.query, path, exists);
    case 'length':
      return somethingAt(expression.argument, path);
    case 'singular':
    case 'value':
      return reachFrom(expression.query, path, (at) => valueComparison(at, operator, value));
  }
}

function valueComparison(
  path: IndexPath,
  operator: ComparisonOperator,
  value: Literal['value'],
): IndexCondition {
  if (path.length === 0) return always;
  if (operator === '!=') return exists(path);
  if (operator === '==') return equals(path, value);
  if (typeof value === 'number') return { kind: 'range', path, operator, value };
  if (typeof value === 'string') return exists(path);
  return operator === '<=' || operator === '>=' ? equals(path, value) : never;
}

/** What holds where the expression has a value at all. */
function somethingAt(expression: ValueExpression, path: IndexPath): IndexCondition {
  switch (expression.kind) {
    case 'literal':
    case 'count':
      return always;
    case 'length':
      return somethingAt(expression.argument, path);
    case 'singular':
    case 'value':
      return reachFrom(expression.query, path, exists);
  }
}

function reachFrom(
  { from, segments }: Query,
  path: IndexPath,
  leaf: (path: IndexPath) => IndexCondition,
): IndexCondition {
  return from === '@' ? reach(segments, path, leaf) : always;
}

function exists(path: IndexPath): IndexCondition {
  return path.length === 0 ? always : { kind: 'exists', path };
}

/** Minus zero equals zero. */
function equals(path: IndexPath, value: Literal['value']): IndexCondition {
  if (typeof value === 'string' && !isStorable(value)) return exists(path);
  return { kind: 'equals', path, value: value === 0 ? 0 : value };
}

/** PostgreSQL keeps neither U+0000 nor half a surrogate pair. */
function isStorable(text: string): boolean {
  return !/\0|\p{Surrogate}/u.test(text);
}

type Literal = ValueExpression & { kind: 'literal' };
