import { attempt } from '../../attempt.ts';
import type { Json, JsonObject } from '../../protocol/json.ts';
import { comparisons, lengthOf } from './compare.ts';
import {
  type Condition,
  isSingular,
  type JsonPathNode,
  type Query,
  type Segment,
  type Selector,
  type ValueExpression,
} from './grammar.ts';
import { compileLikeRegexp, findIRegexp, type IRegexp } from './i-regexp.ts';
import { JsonPathFault } from './reader.ts';

/** Turns a query into functions over JSON values (RFC 9535). Strings compare and count by Unicode scalar values; `&&` and `||` stop where the result is known. */
export function compileQuery(query: Query): (root: Json) => JsonPathNode[] {
  const select = compileSegments(query.segments);
  return (root) => select(new Node(root), root);
}

/** A query that selects more nodes at one step is refused, to limit memory. */
const maxNodes = 4_000_000;

/** Locations are long and rarely needed: a node knows its parent, and the path is made on demand. */
class Node implements JsonPathNode {
  readonly value: Json;
  private readonly parent?: Node;
  private readonly key: string | number;

  constructor(value: Json, parent?: Node, key: string | number = '') {
    this.value = value;
    this.parent = parent;
    this.key = key;
  }

  get path(): (string | number)[] {
    const path: (string | number)[] = [];
    for (let node: Node = this; node.parent !== undefined; node = node.parent) path.push(node.key);
    return path.reverse();
  }
}

type Select = (node: Node, root: Json) => Node[];
type Apply = (node: Node, root: Json, into: Node[]) => void;
type Test = (current: Json, root: Json) => boolean;
type Evaluate = (current: Json, root: Json) => Json | undefined;

function compileSegments(segments: readonly Segment[]): Select {
  const steps = segments.map(compileSegment);
  return (start, root) => {
    let nodes = [start];
    for (const step of steps) {
      const next: Node[] = [];
      for (const node of nodes) step(node, root, next);
      nodes = next;
    }
    return nodes;
  };
}

function compileSegment({ at, descendants, selectors }: Segment): Apply {
  const applies = selectors.map(compileSelector);
  const apply: Apply = (node, root, into) => {
    for (const each of applies) each(node, root, into);
    if (into.length > maxNodes)
      throw new JsonPathFault(`too costly: selects more than ${maxNodes} nodes`, at);
  };
  if (!descendants) return apply;
  const applyBelow: Apply = (node, root, into) => {
    apply(node, root, into);
    forEachChild(node, (child) => applyBelow(child, root, into));
  };
  return applyBelow;
}

function compileSelector(selector: Selector): Apply {
  switch (selector.kind) {
    case 'name':
    case 'index':
      return (node, _root, into) => {
        const key = findKey(node.value, selector);
        if (key !== undefined) into.push(new Node((node.value as JsonObject)[key] as Json, node, key));
      };
    case 'wildcard':
      return (node, _root, into) => forEachChild(node, (child) => into.push(child));
    case 'slice':
      return (node, _root, into) => {
        if (!Array.isArray(node.value)) return;
        for (const index of sliceIndexes(node.value.length, selector)) {
          into.push(new Node(node.value[index] as Json, node, index));
        }
      };
    case 'filter': {
      const test = compileCondition(selector.condition);
      return (node, root, into) =>
        forEachChild(node, (child) => {
          if (test(child.value, root)) into.push(child);
        });
    }
    case 'self': {
      const test = compileCondition(selector.condition);
      return (node, root, into) => {
        if (test(node.value, root)) into.push(node);
      };
    }
  }
}

function forEachChild(node: Node, visit: (child: Node) => void): void {
  const { value } = node;
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) visit(new Node(value[index] as Json, node, index));
  } else {
    for (const name of Object.keys(value)) visit(new Node(value[name] as Json, node, name));
  }
}

/** Selects the member or element of a name or index; a negative index counts from the end. */
function findKey(value: Json, selector: Selector & { kind: 'name' | 'index' }): string | number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (selector.kind === 'name') {
    return !Array.isArray(value) && Object.hasOwn(value, selector.name) ? selector.name : undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const index = selector.index < 0 ? selector.index + value.length : selector.index;
  return index >= 0 && index < value.length ? index : undefined;
}

/** RFC 9535 section 2.3.4.2.2. */
function* sliceIndexes(length: number, slice: Selector & { kind: 'slice' }): Generator<number> {
  const { step } = slice;
  const normal = (index: number) => (index < 0 ? index + length : index);
  const clamp = (index: number, low: number, high: number) => Math.min(Math.max(index, low), high);
  if (step > 0) {
    const end = clamp(normal(slice.end ?? length), 0, length);
    for (let index = clamp(normal(slice.start ?? 0), 0, length); index < end; index += step) yield index;
  } else if (step < 0) {
    const end = slice.end === undefined ? -1 : clamp(normal(slice.end), -1, length - 1);
    for (let index = clamp(normal(slice.start ?? length - 1), -1, length - 1); index > end; index += step) {
      yield index;
    }
  }
}

function compileCondition(condition: Condition): Test {
  switch (condition.kind) {
    case 'or': {
      const tests = condition.conditions.map(compileCondition);
      return (current, root) => tests.some((test) => test(current, root));
    }
    case 'and': {
      const tests = condition.conditions.map(compileCondition);
      return (current, root) => tests.every((test) => test(current, root));
    }
    case 'not': {
      const test = compileCondition(condition.condition);
      return (current, root) => !test(current, root);
    }
    case 'exists': {
      if (isSingular(condition.query)) {
        const evaluate = compileSingular(condition.query);
        return (current, root) => evaluate(current, root) !== undefined;
      }
      const select = compileFilterQuery(condition.query);
      return (current, root) => select(current, root).length > 0;
    }
    case 'comparison': {
      const left = compileValue(condition.left);
      const right = compileValue(condition.right);
      const compare = comparisons[condition.operator];
      return (current, root) => compare(left(current, root), right(current, root));
    }
    case 'match':
    case 'search':
      return compileRegexpTest(condition);
    case 'like':
      return compileLikeTest(condition);
  }
}

function compileValue(expression: ValueExpression): Evaluate {
  switch (expression.kind) {
    case 'literal':
      return () => expression.value;
    case 'singular':
      return compileSingular(expression.query);
    case 'length': {
      const argument = compileValue(expression.argument);
      return (current, root) => lengthOf(argument(current, root));
    }
    case 'count': {
      const select = compileFilterQuery(expression.query);
      return (current, root) => select(current, root).length;
    }
    case 'value': {
      const select = compileFilterQuery(expression.query);
      return (current, root) => {
        const nodes = select(current, root);
        return nodes.length === 1 ? nodes[0]?.value : undefined;
      };
    }
  }
}

function compileFilterQuery(query: Query): (current: Json, root: Json) => Node[] {
  const select = compileSegments(query.segments);
  return query.from === '$'
    ? (_current, root) => select(new Node(root), root)
    : (current, root) => select(new Node(current), root);
}

/** Most queries in filters are singular, and need no nodes. */
function compileSingular(query: Query): Evaluate {
  const selectors = query.segments.map(
    ({ selectors: [only] }) => only as Selector & { kind: 'name' | 'index' },
  );
  return (current, root) => {
    let value = query.from === '$' ? root : current;
    for (const selector of selectors) {
      const key = findKey(value, selector);
      if (key === undefined) return undefined;
      value = (value as JsonObject)[key] as Json;
    }
    return value;
  };
}

/** False if the pattern is not an I-Regexp (RFC 9535 sections 2.4.6 and 2.4.7). A query with an invalid literal pattern is refused; an invalid pattern in a document does not match. */
function compileRegexpTest(test: Condition & { kind: 'match' | 'search' }): Test {
  const text = compileValue(test.text);
  const pattern = compileValue(test.pattern);
  const known = new Map<Json | undefined, IRegexp | undefined>();
  if (test.pattern.kind === 'literal' && typeof test.pattern.value === 'string') {
    try {
      known.set(test.pattern.value, findIRegexp(test.pattern.value));
    } catch {
      throw new JsonPathFault('a regular expression that cannot be run', test.at);
    }
  }
  const regexpOf = (source: Json | undefined): IRegexp | undefined => {
    if (typeof source !== 'string' || known.has(source)) return known.get(source);
    if (known.size >= maxKnownPatterns) known.clear();
    const regexp = attempt(() => findIRegexp(source));
    known.set(source, regexp);
    return regexp;
  };
  return (current, root) => {
    const subject = text(current, root);
    const regexp = regexpOf(pattern(current, root));
    if (regexp === undefined || typeof subject !== 'string') return false;
    return test.kind === 'match' ? regexp.matches(subject) : regexp.test(subject);
  };
}

const maxKnownPatterns = 100;

function compileLikeTest({ text, pattern, flags, at }: Condition & { kind: 'like' }): Test {
  const subject = compileValue(text);
  const isLike = compileLikeRegexp(pattern, flags);
  if (isLike === undefined) throw new JsonPathFault('a regular expression that cannot be run', at);
  return (current, root) => {
    const value = subject(current, root);
    return typeof value === 'string' && isLike(value);
  };
}
