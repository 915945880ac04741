import { comparisons } from '../jsonpath/compare.ts';
import type {
  ComparisonOperator,
  Condition,
  Query,
  Segment,
  Selector,
  ValueExpression,
} from '../jsonpath/grammar.ts';
import {
  always,
  and,
  type IndexCondition,
  type IndexPath,
  memberNames,
  never,
  or,
  weaken,
} from './index-condition.ts';
import { findLocalSegments, isName, type ListName } from './local-filter.ts';

export interface AskedCondition {
  condition: IndexCondition;
  /** The filter selects exactly the resources for which the condition holds, not only some of them. */
  isExact: boolean;
}

/**
 * The condition for the index that every resource or offer selected by a filter satisfies: `always` if nothing is known.
 *
 * Traps of RFC 9535: `@.a == @.b` is true if both are missing; `!=` and `!` are true for a missing value or another type; only numbers and texts are ordered, but `<=` and `>=` include equality of all.
 */
export function indexCondition(query: Query, list: ListName = 'resources', options = {}): AskedCondition {
  const [document, ...rest] = findLocalSegments(query, list, options) ?? [];
  if (document === undefined) return unknown;
  const conditionOf = (selector: Selector) =>
    selector.kind === 'filter' ? conditionAt(selector.condition, []) : exactly(always);
  return every([some(document.selectors.map(conditionOf)), reach(rest, [], exists)], []);
}

/** The condition on a catalog's own members that every catalog satisfies in which a filter selects something. Exact: no other catalog satisfies it. */
export function catalogCondition({ segments }: Query): AskedCondition {
  const [catalogs, catalog, ...rest] = segments;
  if (!isName(catalogs, 'catalogs') || catalog === undefined || catalog.descendants) return unknown;
  const isSelected = some(
    catalog.selectors.map((selector) => {
      if (selector.kind === 'filter') return conditionAt(selector.condition, []);
      // Each catalog is evaluated alone, so it is both the first and the last one.
      const isOnly = selector.kind === 'index' && (selector.index === 0 || selector.index === -1);
      return isOnly || selector.kind === 'wildcard' ? exactly(always) : unknown;
    }),
  );
  const isOfList = isName(rest[0], 'resources') || isName(rest[0], 'offers');
  const asked = isOfList ? isSelected : every([isSelected, reach(rest, [], exists)], []);
  let isWhole = true;
  const condition = weaken(asked.condition, ({ path: [first] }) => {
    const isOwn = typeof first === 'object' && first.name !== 'resources' && first.name !== 'offers';
    isWhole &&= isOwn;
    return isOwn;
  });
  return { condition, isExact: asked.isExact && isWhole };
}

/** Maximum nesting of documents. */
const maxSteps = 64;

function reach(segments: readonly Segment[], start: IndexPath, leaf: Leaf): AskedCondition {
  const found: AskedCondition[] = [];
  let path = start;
  for (const [index, { descendants, selectors }] of segments.entries()) {
    const steps = selectors.map((selector) => findStep(selector, path));
    const [only, ...others] = steps;
    if (descendants || path.length >= maxSteps || only === undefined) {
      return every([...found, inexactly(exists(path))], path);
    }
    if (others.length > 0) {
      // More alternatives would multiply the paths.
      const isLast = index === segments.length - 1;
      const alternatives = steps.map((step) =>
        step
          ? every([step.asked, isLast ? leaf(step.path) : inexactly(exists(step.path))], step.path)
          : unknown,
      );
      return every([...found, some(alternatives)], path);
    }
    found.push(only.asked);
    path = only.path;
  }
  return every([...found, leaf(path)], path);
}

type Leaf = (path: IndexPath) => AskedCondition;

function findStep(
  selector: Selector,
  path: IndexPath,
): { path: IndexPath; asked: AskedCondition } | undefined {
  switch (selector.kind) {
    case 'name':
      return isStorable(selector.name)
        ? { path: [...path, { name: selector.name }], asked: exactly(always) }
        : undefined;
    case 'index':
    case 'slice':
      return { path: [...path, 'element'], asked: unknown };
    case 'wildcard':
      return { path: [...path, 'child'], asked: exactly(always) };
    case 'filter': {
      const child: IndexPath = [...path, 'child'];
      return { path: child, asked: conditionAt(selector.condition, child) };
    }
    case 'self':
      return { path, asked: conditionAt(selector.condition, path) };
  }
}

function conditionAt(condition: Condition, path: IndexPath): AskedCondition {
  switch (condition.kind) {
    case 'or':
      return some(condition.conditions.map((part) => conditionAt(part, path)));
    case 'and':
      return every(
        condition.conditions.map((part) => conditionAt(part, path)),
        path,
      );
    case 'not':
      return negationAt(condition.condition, path);
    case 'exists':
      return reachFrom(condition.query, path, exists);
    case 'comparison':
      return comparisonAt(condition, path);
    case 'match':
    case 'search':
    case 'like':
      return inexactly(somethingAt(condition.text, path));
  }
}

function negationAt(condition: Condition, path: IndexPath): AskedCondition {
  switch (condition.kind) {
    case 'or':
      return every(
        condition.conditions.map((part) => negationAt(part, path)),
        path,
      );
    case 'and':
      return some(condition.conditions.map((part) => negationAt(part, path)));
    case 'not':
      return conditionAt(condition.condition, path);
    case 'comparison':
      return condition.operator === '!=' ? comparisonAt({ ...condition, operator: '==' }, path) : unknown;
    default:
      return unknown;
  }
}

function comparisonAt(
  { operator, left, right }: Condition & { kind: 'comparison' },
  path: IndexPath,
): AskedCondition {
  if (right.kind === 'literal') return literalComparisonAt(left, operator, right, path);
  if (left.kind === 'literal') return literalComparisonAt(right, mirrored[operator], left, path);
  const isOfSomething = operator === '<' || operator === '>';
  return isOfSomething
    ? inexactly(every([somethingAt(left, path), somethingAt(right, path)], path))
    : unknown;
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
): AskedCondition {
  const holdsFor = (other: Literal['value'] | undefined) => comparisons[operator](other, value);
  if (expression.kind === 'literal') return exactly(holdsFor(expression.value) ? always : never);
  if (holdsFor(undefined)) return unknown;
  switch (expression.kind) {
    case 'count':
      return holdsFor(0) ? unknown : inexactly(reachFrom(expression.query, path, exists));
    case 'length':
      return inexactly(somethingAt(expression.argument, path));
    case 'singular':
      return reachFrom(expression.query, path, (at) => valueComparison(at, operator, value));
    // Several nodes have no value.
    case 'value':
      return inexactly(reachFrom(expression.query, path, (at) => valueComparison(at, operator, value)));
  }
}

function valueComparison(path: IndexPath, operator: ComparisonOperator, value: Literal['value']) {
  if (path.length === 0) return unknown;
  if (operator === '==' || operator === '!=') return equals(path, value);
  if (typeof value === 'number') return exactly({ kind: 'range', path, operator, value });
  if (typeof value === 'string') return inexactly(exists(path));
  return operator === '<=' || operator === '>=' ? equals(path, value) : exactly(never);
}

function somethingAt(expression: ValueExpression, path: IndexPath): AskedCondition {
  if (expression.kind === 'length') return somethingAt(expression.argument, path);
  const isOfNode = expression.kind === 'singular' || expression.kind === 'value';
  return isOfNode ? reachFrom(expression.query, path, exists) : unknown;
}

function reachFrom({ from, segments }: Query, path: IndexPath, leaf: Leaf): AskedCondition {
  return from === '@' ? reach(segments, path, leaf) : unknown;
}

function exists(path: IndexPath): AskedCondition {
  return exactly(path.length === 0 ? always : { kind: 'exists', path });
}

/** Minus zero equals zero. */
function equals(path: IndexPath, value: Literal['value']): AskedCondition {
  if (typeof value === 'string' && !isStorable(value)) return inexactly(exists(path));
  return exactly({ kind: 'equals', path, value: value === 0 ? 0 : value });
}

/** PostgreSQL keeps neither U+0000 nor half a surrogate pair. */
function isStorable(text: string): boolean {
  return !/\0|\p{Surrogate}/u.test(text);
}

function exactly(condition: IndexCondition): AskedCondition {
  return { condition, isExact: true };
}

function inexactly({ condition }: AskedCondition): AskedCondition {
  return { condition, isExact: false };
}

const unknown: AskedCondition = { condition: always, isExact: false };

/** If there are several nodes at the path, different nodes may satisfy different parts. */
function every(parts: readonly AskedCondition[], path: IndexPath): AskedCondition {
  const condition = and(parts.map((part) => part.condition));
  const isOfOneNode = memberNames(path) !== undefined || condition.kind !== 'and';
  return { condition, isExact: isOfOneNode && parts.every(({ isExact }) => isExact) };
}

function some(parts: readonly AskedCondition[]): AskedCondition {
  return {
    condition: or(parts.map((part) => part.condition)),
    isExact: parts.every(({ isExact }) => isExact),
  };
}

type Literal = ValueExpression & { kind: 'literal' };
