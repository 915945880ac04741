import type { Json } from '../../protocol/json.ts';

/** The syntax tree of a JSONPath query, in the terms of RFC 9535. */
export interface Query {
  from: '$' | '@';
  segments: Segment[];
}

export interface Segment {
  at: number;
  descendants: boolean;
  selectors: Selector[];
}

export type Selector =
  | { kind: 'name'; name: string }
  | { kind: 'index'; index: number }
  | { kind: 'slice'; start?: number; end?: number; step: number }
  | { kind: 'wildcard' }
  | { kind: 'filter'; condition: Condition }
  /** An extension of the RFC: keeps the node itself, not its children, if the condition is true (filters/postfix.ts). */
  | { kind: 'self'; condition: Condition };

/** Logical expressions, section 2.3.5.1. */
export type Condition =
  | { kind: 'or'; conditions: Condition[] }
  | { kind: 'and'; conditions: Condition[] }
  | { kind: 'not'; condition: Condition }
  | { kind: 'exists'; query: Query }
  | { kind: 'comparison'; operator: ComparisonOperator; left: ValueExpression; right: ValueExpression }
  | { kind: 'match' | 'search'; text: ValueExpression; pattern: ValueExpression; at: number }
  /** An extension of the RFC: a regular expression of SQL with its flags (filters/postfix.ts). */
  | { kind: 'like'; text: ValueExpression; pattern: string; flags: string; at: number };

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** An expression with at most one value, which can be compared. The query of a `value` kind may select many nodes. */
export type ValueExpression =
  | { kind: 'literal'; value: null | boolean | number | string }
  | { kind: 'singular'; query: Query }
  | { kind: 'length'; argument: ValueExpression }
  | { kind: 'count' | 'value'; query: Query };

/** Whether a query selects at most one node, whatever the value (section 2.3.5.1). */
export function isSingular(query: Query): boolean {
  return query.segments.every(
    ({ descendants, selectors: [selector, ...more] }) =>
      !descendants && more.length === 0 && (selector?.kind === 'name' || selector?.kind === 'index'),
  );
}

/** The queries in a condition and in the conditions that it joins. `ofTest` may change those that are tests by themselves. */
export function queriesOf(condition: Condition, ofTest = (query: Query) => query): Query[] {
  switch (condition.kind) {
    case 'or':
    case 'and':
      return condition.conditions.flatMap((each) => queriesOf(each, ofTest));
    case 'not':
      return queriesOf(condition.condition, ofTest);
    case 'exists':
      return [ofTest(condition.query)];
    case 'comparison':
      return [condition.left, condition.right].flatMap(queriesIn);
    case 'match':
    case 'search':
      return [condition.text, condition.pattern].flatMap(queriesIn);
    case 'like':
      return queriesIn(condition.text);
  }
}

export function queriesIn(expression: ValueExpression): Query[] {
  if (expression.kind === 'literal') return [];
  return expression.kind === 'length' ? queriesIn(expression.argument) : [expression.query];
}

export type Location = readonly (string | number)[];

export interface JsonPathNode {
  readonly value: Json;
  readonly path: Location;
}
