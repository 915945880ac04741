import {
  type ComparisonOperator,
  type Condition,
  isSingular,
  type Query,
  type Segment,
  type Selector,
  type ValueExpression,
} from './grammar.ts';
import { patternSize } from './pattern-size.ts';
import { JsonPathReader } from './reader.ts';

/** Parses a JSONPath query by the grammar of RFC 9535 (appendix A) and the typing rules of its functions (section 2.4.3). */
export function parseQuery(expression: string): Query {
  return new QueryParser(expression).whole();
}

const maxExpressionLength = 65_536;
const maxNesting = 64;
/** Total size of the regular expressions of a query: they are compiled here, before a deadline could apply. */
const maxPatternSize = 2_500;

/** The grammar of filters/postfix.ts extends the protected methods. */
export class QueryParser extends JsonPathReader {
  private nesting = 0;
  private patternSize = 0;

  whole(): Query {
    if (this.text.length > maxExpressionLength) {
      this.fail(`longer than ${maxExpressionLength} characters`, maxExpressionLength);
    }
    if (!this.takes('$')) this.fail("a query starts with '$'");
    const segments = this.segments();
    if (this.at < this.text.length) this.fail('unexpected here');
    return { from: '$', segments };
  }

  protected segments(): Segment[] {
    const segments: Segment[] = [];
    for (;;) {
      const segment = this.afterSpace((at) => this.findSegment(at));
      if (segment === undefined) return segments;
      segments.push(segment);
    }
  }

  protected findSegment(at: number): Segment | undefined {
    if (this.takes('..')) {
      return { at, descendants: true, selectors: this.sees('[') ? this.brackets() : this.afterDot() };
    }
    if (this.takes('.')) return { at, descendants: false, selectors: this.afterDot() };
    return this.sees('[') ? { at, descendants: false, selectors: this.brackets() } : undefined;
  }

  protected afterDot(): Selector[] {
    if (this.takes('*')) return [{ kind: 'wildcard' }];
    return [{ kind: 'name', name: this.findName() ?? this.fail("a name or '*' expected") }];
  }

  private brackets(): Selector[] {
    const selectors: Selector[] = [];
    this.expect('[');
    do {
      this.space();
      selectors.push(this.selector());
      this.space();
    } while (this.takes(','));
    this.expect(']');
    return selectors;
  }

  private selector(): Selector {
    if (this.sees('"') || this.sees("'")) return { kind: 'name', name: this.string() };
    if (this.takes('*')) return { kind: 'wildcard' };
    if (this.takes('?')) {
      this.space();
      return { kind: 'filter', condition: this.nested(() => this.or()) };
    }
    return this.indexOrSlice();
  }

  private indexOrSlice(): Selector {
    const first = this.findInteger();
    if (!this.takesAfterSpace(':')) {
      if (first === undefined) this.fail('a selector expected');
      return { kind: 'index', index: first };
    }
    const end = this.findInteger();
    if (!this.takesAfterSpace(':')) return { kind: 'slice', start: first, end, step: 1 };
    return { kind: 'slice', start: first, end, step: this.findInteger() ?? 1 };
  }

  private or(): Condition {
    const conditions = [this.and()];
    while (this.takesAfterSpace('||')) conditions.push(this.and());
    return conditions.length === 1 ? (conditions[0] as Condition) : { kind: 'or', conditions };
  }

  private and(): Condition {
    const conditions = [this.basic()];
    while (this.takesAfterSpace('&&')) conditions.push(this.basic());
    return conditions.length === 1 ? (conditions[0] as Condition) : { kind: 'and', conditions };
  }

  private basic(): Condition {
    const condition = this.condition();
    const at = this.afterSpace((start) => (this.findOperator() === undefined ? undefined : start));
    if (at !== undefined) this.fail('only a query, a literal or a function can be compared', at);
    return condition;
  }

  /** A parenthesis, a comparison or a test: `!` may precede the first and the last. */
  private condition(): Condition {
    if (this.takes('!')) {
      this.space();
      return { kind: 'not', condition: this.sees('(') ? this.parenthesis() : this.test(this.operand()) };
    }
    if (this.sees('(')) return this.parenthesis();
    const operand = this.operand();
    const operator = this.afterSpace(() => this.findOperator());
    return operator === undefined ? this.test(operand) : this.comparison(operand, operator);
  }

  protected comparison(operand: Operand, operator: ComparisonOperator): Condition {
    const left = this.comparable(operand);
    this.space();
    const right = this.comparable(this.operand());
    return { kind: 'comparison', operator, left, right };
  }

  protected findOperator(): ComparisonOperator | undefined {
    return this.match(/[=!]=|[<>]=?/y) as ComparisonOperator | undefined;
  }

  protected parenthesis(): Condition {
    this.expect('(');
    this.space();
    const condition = this.nested(() => this.or());
    this.space();
    this.expect(')');
    return condition;
  }

  protected operand(): Operand {
    const at = this.at;
    const query = this.findQuery();
    if (query !== undefined) return { at, query };
    const name = this.match(/[a-z][a-z0-9_]*(?=\()/y);
    if (name !== undefined) return { at, ...this.call(name, at) };
    return { at, value: { kind: 'literal', value: this.literal() } };
  }

  protected test({ at, query, condition }: Operand): Condition {
    if (query !== undefined) return { kind: 'exists', query };
    return condition ?? this.fail('a value is not a condition: it must be compared', at);
  }

  protected comparable({ at, query, value }: Operand): ValueExpression {
    if (query === undefined) return value ?? this.fail('the result of this function cannot be compared', at);
    if (!isSingular(query)) this.fail('this query may select several nodes and cannot be compared', at);
    return { kind: 'singular', query };
  }

  private call(name: string, at: number): Omit<Operand, 'at'> {
    this.expect('(');
    const read = this.callOf(name, at);
    this.space();
    if (!this.takes(')')) this.fail(`')' expected after the arguments of ${name}()`);
    return read;
  }

  protected callOf(name: string, at: number): Omit<Operand, 'at'> {
    switch (name) {
      case 'length':
        return { value: { kind: name, argument: this.valueArgument() } };
      case 'count':
      case 'value':
        return { value: { kind: name, query: this.nodesArgument() } };
      case 'match':
      case 'search': {
        const text = this.valueArgument();
        this.space();
        if (!this.takes(',')) this.fail(`${name}() takes two arguments`);
        const pattern = this.valueArgument();
        if (pattern.kind === 'literal' && typeof pattern.value === 'string')
          this.countPattern(pattern.value, at);
        return { condition: { kind: name, text, pattern, at } };
      }
      default:
        return this.fail(`there is no function ${name}()`, at);
    }
  }

  private valueArgument(): ValueExpression {
    this.space();
    return this.nested(() => this.comparable(this.operand()));
  }

  protected nodesArgument(): Query {
    this.space();
    return this.findQuery() ?? this.fail('a query expected');
  }

  private findQuery(): Query | undefined {
    const from = this.match(/[$@]/y);
    return from === undefined ? undefined : { from: from as Query['from'], segments: this.segments() };
  }

  protected countPattern(pattern: string, at: number): void {
    this.patternSize += patternSize(pattern);
    if (this.patternSize > maxPatternSize) this.fail('regular expressions too large', at);
  }

  private nested<T>(read: () => T): T {
    if (++this.nesting > maxNesting) this.fail(`nested deeper than ${maxNesting} levels`);
    const result = read();
    this.nesting--;
    return result;
  }
}

/** Either side of an operator, or a test alone: exactly one of the three members is set. */
export interface Operand {
  at: number;
  query?: Query;
  value?: ValueExpression;
  condition?: Condition;
}
