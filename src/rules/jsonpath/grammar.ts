import type { Json } from '../../protocol/json.ts';

/**
 * What a JSONPath query says, in the terms of RFC 9535: the tree that `parseQuery` makes, that `compileQuery` evaluates,
 * and from which an index can read what a filter asks for.
 */
export interface Query {
  /** `$` is the whole value, `@` the node that a filter looks at. */
  from: '$' | '@';
  segments: Segment[];
}

export interface Segment {
  /** Index of its first character in the expression. */
  at: number;
  /** `..`: the selectors apply to the node and to everything below it. */
  descendants: boolean;
  selectors: Selector[];
}

export type Selector =
  | { kind: 'name'; name: string }
  | { kind: 'index'; index: number }
  | { kind: 'slice'; start?: number; end?: number; step: number }
  | { kind: 'wildcard' }
  | { kind: 'filter'; condition: Condition }
  /** Not of the RFC: keeps the node itself, not its children, where the condition holds (filters/postfix.ts). */
  | { kind: 'self'; condition: Condition };

/** Logical expressions, section 2.3.5.1. */
export type Condition =
  | { kind: 'or'; conditions: Condition[] }
  | { kind: 'and'; conditions: Condition[] }
  | { kind: 'not'; condition: Condition }
  | { kind: 'exists'; query: Query }
  | { kind: 'comparison'; operator: ComparisonOperator; left: ValueExpression; right: ValueExpression }
  | { kind: 'match' | 'search'; text: ValueExpression; pattern: ValueExpression; at: number }
  /** Not of the RFC: a regular expression of SQL with its flags (filters/postfix.ts). */
  | { kind: 'like'; text: ValueExpression; pattern: string; flags: string; at: number };

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** What has at most one value and can therefore be compared. The query of a `value` kind may select many nodes. */
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

/** Where a query selected something: the member names and indexes from the root to it. */
export type Location = readonly (string | number)[];

export interface JsonPathNode {
  readonly value: Json;
  readonly path: Location;
}
