import { isJsonObject, type Json } from '../../protocol/json.ts';
import type { Condition, Query, Segment, ValueExpression } from '../jsonpath/grammar.ts';

// The paths that a filter uses, from the root of the payload, for hints about misspelt names. They do not affect the result.

export type Step = { name: string } | 'any';
export type AskedPath = readonly Step[];

/** The paths that must exist for the filter, or one of its alternatives, to select anything. Omits paths below `..`, several selectors and negations. */
export function listAskedPaths(query: Query): AskedPath[] {
  return pathsOf(query, []);
}

function pathsOf({ from, segments }: Query, current: AskedPath): AskedPath[] {
  const found: AskedPath[] = [];
  let path: AskedPath = from === '$' ? [] : current;
  for (const segment of segments) {
    const next = readSegment(segment);
    if (next === undefined) return found;
    path = [...path, ...next.steps];
    if (next.condition) found.push(...pathsOfCondition(next.condition, path));
  }
  return [...found, path];
}

function readSegment({
  descendants,
  selectors: [selector, ...more],
}: Segment): { steps: Step[]; condition?: Condition } | undefined {
  if (descendants || more.length > 0 || selector === undefined) return undefined;
  switch (selector.kind) {
    case 'name':
      return { steps: [{ name: selector.name }] };
    case 'filter':
      return { steps: ['any'], condition: selector.condition };
    case 'self':
      return { steps: [], condition: selector.condition };
    default:
      return { steps: ['any'] };
  }
}

function pathsOfCondition(condition: Condition, current: AskedPath): AskedPath[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap((each) => pathsOfCondition(each, current));
    case 'exists':
      return pathsOf(condition.query, current);
    case 'comparison':
      // `!=` is also true for missing members.
      if (condition.operator === '!=') return [];
      return [...pathsOfValue(condition.left, current), ...pathsOfValue(condition.right, current)];
    case 'match':
    case 'search':
    case 'like':
      return pathsOfValue(condition.text, current);
    case 'not':
      return [];
  }
}

function pathsOfValue(expression: ValueExpression, current: AskedPath): AskedPath[] {
  if (expression.kind === 'length') return pathsOfValue(expression.argument, current);
  // A missing value also has a count.
  return expression.kind === 'singular' || expression.kind === 'value'
    ? pathsOf(expression.query, current)
    : [];
}

export function leadsSomewhere(path: AskedPath, root: Json): boolean {
  let nodes: Json[] = [root];
  for (const step of path) nodes = nodes.flatMap((node) => childrenAt(node, step));
  return nodes.length > 0;
}

function childrenAt(node: Json, step: Step): Json[] {
  if (step === 'any') return typeof node === 'object' && node !== null ? Object.values(node) : [];
  return isJsonObject(node) && Object.hasOwn(node, step.name) ? [node[step.name] as Json] : [];
}
