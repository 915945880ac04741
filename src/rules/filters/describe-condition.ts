import { isJsonObject, type Json, quoteName } from '../../protocol/json.ts';
import {
  type Condition,
  type Query,
  queriesOf,
  type Segment,
  type Selector,
  type ValueExpression,
} from '../jsonpath/grammar.ts';
import { compileFind } from '../jsonpath/jsonpath.ts';
import { findLocalSegments } from './local-filter.ts';

// Which condition of a filter a resource does not satisfy, and the actual values: explains why a resource was not found.

interface FailedCondition {
  condition: string;
  /** The values at the paths that the condition compares; null if there is none. */
  got: Record<string, Json>;
}

const maxTextLength = 200;

/** The false parts of the outermost `&&` for this resource. Undefined if the filter does not judge each resource separately. */
export function findFailedConditions(query: Query, resource: Json): FailedCondition[] | undefined {
  const [first] = findLocalSegments(query) ?? [];
  const [selector, ...others] = first?.selectors ?? [];
  if (selector?.kind !== 'filter' || others.length > 0) return undefined;
  const { condition } = selector;
  const parts = condition.kind === 'and' ? condition.conditions : [condition];
  return parts
    .filter((part) => !holds(part, resource))
    .map((part) => ({ condition: describeCondition(part), got: valuesOf(part, resource) }));
}

function holds(condition: Condition, resource: Json): boolean {
  const segment: Segment = { at: 0, descendants: false, selectors: [{ kind: 'filter', condition }] };
  return compileFind({ from: '$', segments: [segment] })([resource]).length > 0;
}

function valuesOf(condition: Condition, resource: Json): Record<string, Json> {
  const values = queriesOf(condition, withoutFilter).map((query): [string, Json] => {
    const found = compileFind({ ...query, from: '$' })(resource).map(({ value }) => value);
    return [describeQuery(query), found.length === 0 ? null : shorten(found.length === 1 ? found[0] : found)];
  });
  return Object.fromEntries(values);
}

/** A large object is shown only as present. */
function shorten(value: Json | undefined): Json {
  const text = JSON.stringify(value ?? null);
  if (text.length <= maxTextLength) return value ?? null;
  return isJsonObject(value) ? '{…}' : `${text.slice(0, maxTextLength)}…`;
}

/** For `@.connectors[?@.type == 'x']`, the value at `@.connectors` is shown. */
function withoutFilter({ from, segments }: Query): Query {
  const at = segments.findIndex(({ selectors }) => selectors.some(({ kind }) => kind === 'filter'));
  return { from, segments: at > 0 ? segments.slice(0, at) : segments };
}

function describeCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'or':
      return condition.conditions.map(describeNested).join(' || ');
    case 'and':
      return condition.conditions.map(describeNested).join(' && ');
    case 'not':
      return `!(${describeCondition(condition.condition)})`;
    case 'exists':
      return describeQuery(condition.query);
    case 'comparison':
      return `${describeValue(condition.left)} ${condition.operator} ${describeValue(condition.right)}`;
    case 'match':
    case 'search':
      return `${condition.kind}(${describeValue(condition.text)}, ${describeValue(condition.pattern)})`;
    case 'like':
      return `${describeValue(condition.text)} like_regex ${quoteName(condition.pattern)}`;
  }
}

function describeNested(condition: Condition): string {
  const text = describeCondition(condition);
  return condition.kind === 'or' || condition.kind === 'and' ? `(${text})` : text;
}

function describeValue(expression: ValueExpression): string {
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'string' ? quoteName(expression.value) : String(expression.value);
    case 'singular':
      return describeQuery(expression.query);
    case 'length':
      return `length(${describeValue(expression.argument)})`;
    case 'count':
    case 'value':
      return `${expression.kind}(${describeQuery(expression.query)})`;
  }
}

function describeQuery({ from, segments }: Query): string {
  return `${from}${segments.map(describeSegment).join('')}`;
}

function describeSegment({ descendants, selectors }: Segment): string {
  const [only, ...others] = selectors;
  if (others.length === 0 && only?.kind === 'name' && /^[A-Za-z_]\w*$/.test(only.name))
    return `${descendants ? '..' : '.'}${only.name}`;
  return `${descendants ? '..' : ''}[${selectors.map(describeSelector).join(', ')}]`;
}

function describeSelector(selector: Selector): string {
  switch (selector.kind) {
    case 'name':
      return quoteName(selector.name);
    case 'index':
      return String(selector.index);
    case 'slice':
      return `${selector.start ?? ''}:${selector.end ?? ''}:${selector.step}`;
    case 'wildcard':
      return '*';
    case 'filter':
    case 'self':
      return `?${describeCondition(selector.condition)}`;
  }
}
