import type { Condition, Segment, ValueExpression } from '../../rules/jsonpath/grammar.ts';

/**
 * Whether one document is evaluated in a time that its size bounds: every step goes to children of what the step before it found, none
 * twice. `..` inside filters, and several selectors in one step, can multiply.
 */
export function isCheap(segments: readonly Segment[]): boolean {
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
