import {
  type ComparisonOperator,
  type Condition,
  isSingular,
  type Query,
  queriesIn,
  type Segment,
  type Selector,
  type ValueExpression,
} from '../jsonpath/grammar.ts';
import { type Operand, QueryParser } from '../jsonpath/parse.ts';

/**
 * Parses the form in which most clients of the field write filters, the SQL/JSON path of PostgreSQL, and rewrites it to RFC 9535:
 *
 *     $.catalogs[*].resources[*] ? (@.resourceAttributes."@type" == "Coffee" && @.rating > 4)
 *
 * A filter after a path keeps or drops the nodes of that path, so `resources[*] ? (c)` is `resources[?c]`. Beyond the RFC it has `."key"`, filters after any step, exists(), `like_regex` with flags,
 * `starts with`, `<>`, and the modes `lax` and `strict`, which change nothing. An expression without a filter after a path is not in this form. Its meaning is that of RFC 9535:
 * - `!=` is the opposite of `==`: a missing member differs from every value. `!` has no third truth value.
 * - Only `[*]` enters arrays: `@.tags == "x"` matches a text, `@.tags[*] == "x"` an array that contains it.
 * - A comparison with a path that may select several nodes is true if it is true for some of them.
 */
export function parsePostfixQuery(expression: string): Query {
  return new PostfixParser(expression.trimEnd()).whole();
}

class PostfixParser extends QueryParser {
  private hasPostfixFilter = false;

  override whole(): Query {
    this.space();
    this.match(/(?:lax|strict)[ \t\n\r]+/y);
    const query = super.whole();
    if (!this.hasPostfixFilter) this.fail('no filter after a path', 0);
    return query;
  }

  protected override segments(): Segment[] {
    return joinFilters(super.segments());
  }

  protected override findSegment(at: number): Segment | undefined {
    if (!this.takes('?')) return super.findSegment(at);
    this.hasPostfixFilter = true;
    this.space();
    return selfSegment(this.parenthesis(), at);
  }

  protected override afterDot(): Selector[] {
    return this.sees('"') ? [{ kind: 'name', name: this.string() }] : super.afterDot();
  }

  protected override findOperator(): ComparisonOperator | undefined {
    return this.takes('<>') ? '!=' : super.findOperator();
  }

  protected override operand(): Operand {
    const { at } = this;
    if (this.match(/exists[ \t\n\r]*\(/y) === undefined) return super.operand();
    const query = this.nodesArgument();
    this.space();
    this.expect(')');
    return { at, condition: { kind: 'exists', query } };
  }

  protected override test(operand: Operand): Condition {
    const { at } = this;
    if (this.match(/[ \t\n\r]*like_regex[ \t\n\r]*/y) !== undefined) return this.likeRegex(operand);
    if (this.match(/[ \t\n\r]*starts[ \t\n\r]+with[ \t\n\r]*/y) !== undefined)
      return this.startsWith(operand, at);
    return super.test(operand);
  }

  private likeRegex(operand: Operand): Condition {
    const { at } = this;
    const pattern = this.quoted();
    this.countPattern(pattern, at);
    const flags = this.match(/[ \t\n\r]*flag[ \t\n\r]*(?=")/y) === undefined ? '' : this.quoted();
    return this.some(operand, (text) => ({ kind: 'like', text, pattern, flags, at }));
  }

  /** In I-Regexp, `.` matches everything but line ends. */
  private startsWith(operand: Operand, at: number): Condition {
    const start = this.quoted().replace(/[()*+.?[\\\]{|}]/g, '\\$&');
    const pattern: ValueExpression = { kind: 'literal', value: `${start}(.|[\\n\\r])*` };
    return this.some(operand, (text) => ({ kind: 'match', text, pattern, at }));
  }

  private quoted(): string {
    return this.sees('"') ? this.string() : this.fail('a text in double quotes expected');
  }

  protected override comparison(left: Operand, operator: ComparisonOperator): Condition {
    this.space();
    const right = this.operand();
    if (isMany(right)) {
      const fixed = this.besideMany(left);
      return this.some(right, (each) => ({ kind: 'comparison', operator, left: fixed, right: each }));
    }
    const fixed = isMany(left) ? this.besideMany(right) : this.comparable(right);
    return this.some(left, (each) => ({ kind: 'comparison', operator, left: each, right: fixed }));
  }

  /** Inside the filter of another path, `@` would be a different node. */
  private besideMany(operand: Operand): ValueExpression {
    const value = this.comparable(operand);
    if (queriesIn(value).some(({ from }) => from === '@')) {
      this.fail('several nodes can be compared with a literal or a path from $ only', operand.at);
    }
    return value;
  }

  /** The condition on a single value, or on some of the nodes of a path: then a filter at its end. */
  private some(operand: Operand, conditionOn: (value: ValueExpression) => Condition): Condition {
    if (!isMany(operand)) return conditionOn(this.comparable(operand));
    const { from, segments } = operand.query;
    const itself: ValueExpression = { kind: 'singular', query: { from: '@', segments: [] } };
    const filtered = joinFilters([...segments, selfSegment(conditionOn(itself), operand.at)]);
    return { kind: 'exists', query: { from, segments: filtered } };
  }
}

function selfSegment(condition: Condition, at: number): Segment {
  return { at, descendants: false, selectors: [{ kind: 'self', condition }] };
}

/** A filter right after `[*]` is the filter selector of the RFC. */
function joinFilters(segments: readonly Segment[]): Segment[] {
  const joined: Segment[] = [];
  for (const segment of segments) {
    const before = joined.at(-1);
    const [filter] = segment.selectors;
    const isJoined = before !== undefined && isWildcard(before) && filter?.kind === 'self';
    if (isJoined) before.selectors = [{ kind: 'filter', condition: filter.condition }];
    else joined.push({ ...segment });
  }
  return joined;
}

function isWildcard({ selectors }: Segment): boolean {
  return selectors.length === 1 && selectors[0]?.kind === 'wildcard';
}

function isMany(operand: Operand): operand is Operand & { query: Query } {
  return operand.query !== undefined && !isSingular(operand.query);
}
