import fc from 'fast-check';
import { JSONPathEnvironment } from 'json-p3';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/support/reproducible.ts';
import { documents, queries } from '../../../tests/support/values/arbitrary-jsonpath.ts';
import { normalizedPath } from '../../../tests/support/values/normalized-path.ts';
import { readVectors } from '../../../tests/support/values/vectors.ts';
import type { ProtocolError } from '../../protocol/errors.ts';
import type { Json } from '../../protocol/json.ts';
import { parseJsonPath } from './jsonpath.ts';

const find = (expression: string, value: Json) => parseJsonPath(expression).find(value);
const valuesOf = (expression: string, value: Json) => find(expression, value).map((node) => node.value);
const pathsOf = (expression: string, value: Json) =>
  find(expression, value).map((node) => normalizedPath(node.path));

describe('the compliance test suite of RFC 9535', () => {
  const suite = readVectors<{ tests: ComplianceCase[] }>('jsonpath-cts/cts.json');

  it.skipIf(suite === undefined)('passes in all its cases (needs the jsonpath-cts vectors)', () => {
    expect(suite?.tests.length).toBeGreaterThanOrEqual(703);
    for (const { name, selector, document = null, ...expected } of suite?.tests ?? []) {
      if (expected.invalid_selector) {
        expect(() => parseJsonPath(selector), name).toThrow(refused);
        continue;
      }
      expect(expected.results ?? [expected.result], name).toContainEqual(valuesOf(selector, document));
      const paths = expected.results_paths ?? [expected.result_paths];
      expect(paths, name).toContainEqual(pathsOf(selector, document));
    }
  });
});

describe('parseJsonPath', () => {
  // The bookstore of RFC 9535 section 1.5, reduced to the parts that the queries of its table 2 use.
  const store = {
    book: [
      { category: 'reference', author: 'Rees', title: 'Sayings', price: 8.95 },
      { category: 'fiction', author: 'Waugh', title: 'Sword', price: 12.99 },
      { category: 'fiction', author: 'Melville', title: 'Moby Dick', isbn: '0-553', price: 8.99 },
      { category: 'fiction', author: 'Tolkien', title: 'Lord', isbn: '0-395', price: 22.99 },
    ],
    bicycle: { color: 'red', price: 399 },
  };
  const bookstore = { store } as unknown as Json;

  it.each([
    ['$.store.book[*].author', ['Rees', 'Waugh', 'Melville', 'Tolkien']],
    ['$..author', ['Rees', 'Waugh', 'Melville', 'Tolkien']],
    ['$.store.*', [store.book, store.bicycle]],
    ['$.store..price', [8.95, 12.99, 8.99, 22.99, 399]],
    ['$..book[2].title', ['Moby Dick']],
    ['$..book[-1].title', ['Lord']],
    ['$..book[0,1].title', ['Sayings', 'Sword']],
    ['$..book[:2].title', ['Sayings', 'Sword']],
    ['$..book[?@.isbn].title', ['Moby Dick', 'Lord']],
    ['$..book[?@.price<10].title', ['Sayings', 'Moby Dick']],
    ['$..book[?@.price == 8.95 || @.category == "fiction" && !@.isbn].title', ['Sayings', 'Sword']],
    ['$..book[?match(@.author, "[MT].*")].title', ['Moby Dick', 'Lord']],
    ['$..book[?length(@.title) < 5].title', ['Lord']],
    ['$.store[?count(@.*) == 4][0].title', ['Sayings']],
    ['$..book[::-1].price', [22.99, 8.99, 12.99, 8.95]],
    ['$..book[?value(@..isbn) > $.store.book[3].isbn].title', ['Moby Dick']],
    ['$.store.book[?@.price > 0.5e1 && @.price < 9].title', ['Sayings', 'Moby Dick']],
  ])('selects by %s', (expression, values) => {
    expect(valuesOf(expression, bookstore)).toEqual(values);
  });

  it('gives every node its path', () => {
    const [node] = find('$..book[?@.isbn]', bookstore);
    expect(node?.path).toEqual(['store', 'book', 2]);
    expect(normalizedPath(node?.path ?? [])).toBe("$['store']['book'][2]");
    expect(pathsOf("$[\"it's\",'\\u000b']", { "it's": 1, '\u000b': 2 })).toEqual([
      "$['it\\'s']",
      "$['\\u000b']",
    ]);
  });

  it('shows what a query asks for', () => {
    const { query } = parseJsonPath('$.a[?@.b==0.5]');
    expect(query.segments[1]?.selectors[0]).toMatchObject({
      kind: 'filter',
      condition: { kind: 'comparison', operator: '==', right: { kind: 'literal', value: 0.5 } },
    });
  });

  it.each([
    ['a chained comparison', '$[?@.a == 1 == true]', 13],
    ['a comparison of a comparison', '$[?(@.a == 1) == true]', 15],
    ['a literal in parentheses', '$[?@.a == (1)]', 11],
    ['a query in parentheses that is compared', '$[?(@.a) == 1]', 10],
    ['a negated comparison without parentheses', '$[?!@.a == 1]', 9],
    ['a negated operand', '$[?@.a == !@.b]', 11],
    ['a double negation', '$[?!!@.a]', 5],
    ['a negated literal', '$[?!true]', 5],
    ['a literal as condition', '$[?true]', 4],
    ['a number as condition', '$[?@.a && length(@.b)]', 11],
    ['a condition that is compared', '$[?match(@.a, "x") == true]', 4],
    ['several nodes that are compared', '$[?@.* == 1]', 4],
    ['several nodes as one value', '$[?length(@.*) == 1]', 11],
    ['a value as nodes', '$[?count(1) == 1]', 10],
    ['an argument in parentheses', '$[?count((@.*)) == 1]', 10],
    ['a comma without an argument', '$[?length(@.a,) == 1]', 14],
    ['a missing argument', '$[?match(@.a)]', 13],
    ['an unknown function', '$[?lower(@.a) == "x"]', 4],
    ['a leading zero', '$[?@.a == 01]', 12],
    ['a leading zero after the sign', '$[?@.a == -01]', 13],
    ['a number beyond a double', '$[?@.a == 1e400]', 11],
    ['an unknown escape', '$[?@.a == "\\x"]', 12],
    ['half of a surrogate pair', '$[?@.a == "\\ud800"]', 12],
    ['an open string', '$[?@.a == "x]', 14],
    ['an index beyond 2^53', '$[9007199254740992]', 3],
    ['minus zero as index', '$[-0]', 3],
    ['a hyphen in a shorthand name', '$.a-b', 4],
    ['a missing name', '$.', 3],
    ['a missing name after dots', '$..', 4],
    ['empty brackets', '$[]', 3],
    ['open brackets', '$[0', 4],
    ['white space at the end', '$ ', 2],
    ['white space at the start', ' $', 1],
    ['a relative path', 'catalogs[0]', 1],
    ['nothing', '', 1],
    ['another operator', '$[?@.a = 1]', 8],
    ['a regular expression that cannot be run', '$[?match(@.a, "a{2000}")]', 4],
    ['too many filters inside each other', `$${'[?@'.repeat(70)}${']'.repeat(70)}`, 196],
    ['too many parentheses inside each other', `$[?${'('.repeat(100)}@.a${')'.repeat(100)}]`, 68],
    ['an endless expression', `$.${'a'.repeat(70_000)}`, 65_537],
  ])('refuses %s', (_, expression, character) => {
    expect(() => parseJsonPath(expression)).toThrow(refused);
    expect(messageOf(expression)).toMatch(new RegExp(`^invalid JSONPath: .+, at character ${character}$`));
  });

  it('never throws anything but SCH_INVALID_JSONPATH', () => {
    const unit = fc.constantFrom(
      ...[
        '$',
        '@',
        '.',
        '..',
        '[',
        ']',
        '?',
        '*',
        '(',
        ')',
        '!',
        '==',
        '<',
        '&&',
        '||',
        ',',
        ':',
        ' ',
        '"a"',
        "'",
        '"',
        '\\',
      ],
      ...[
        'a',
        '0',
        '-1',
        '1.5',
        'true',
        'null',
        'length(',
        'count(',
        'value(',
        'match(',
        'é',
        '😀',
        '\u0000',
      ],
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (rest) => {
        try {
          find(`$[?${rest}`, [{ a: [1, 'a'] }]);
        } catch (error) {
          expect(error).toEqual(refused);
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('agrees with another implementation on what a query selects', () => {
    const oracle = textsOnly(new JSONPathEnvironment());
    fc.assert(
      fc.property(queries, documents, (query, document) => {
        expect(pathsOf(query, document)).toEqual(oracle.query(query, document).paths({ form: 'canonical' }));
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('selects from arrays of any size', () => {
    const resources = Array.from({ length: 300_000 }, (_, id) => ({ id }));
    expect(find('$.resources[*]', { resources })).toHaveLength(300_000);
    expect(find('$[?count(@[*]) == 300000]', { resources })).toHaveLength(1);
  });

  it('refuses to select without end', () => {
    const expression = `$[0][${Array(5_000).fill('*')}]`;
    expect(() => find(expression, [Array(1_000).fill(0)])).toThrow(refused);
  });

  it('compares and counts by Unicode scalar values, not by UTF-16 units', () => {
    expect(valuesOf('$[?@ < "\u{1f600}"]', ['\ufb33', '\u{1f601}'])).toEqual(['\ufb33']);
    expect(valuesOf('$[?length(@) == 1]', ['\u{1f600}', 'ab'])).toEqual(['\u{1f600}']);
  });

  it('never looks at prototypes', () => {
    expect(valuesOf('$.constructor', {})).toEqual([]);
    expect(valuesOf('$[?@.length]', [[1], 'text'])).toEqual([]);
    expect(valuesOf('$.__proto__.a', JSON.parse('{"__proto__":{"a":1}}'))).toEqual([1]);
  });

  it('says that comparisons do not chain', () => {
    expect(messageOf('$[?@.a == 1 == true]')).toContain(
      'only a query, a literal or a function can be compared',
    );
  });

  it('matches nothing but texts', () => {
    expect(valuesOf('$[?match(@, "a.*")]', ['ab', ['ab'], { a: 'ab' }, null])).toEqual(['ab']);
    expect(valuesOf('$[?search(@, "1")]', ['1', 1, [1]])).toEqual(['1']);
  });

  it('takes a pattern that is no I-Regexp for one that matches nothing, as the RFC says', () => {
    expect(valuesOf('$[?match(@, "\\\\d+")]', ['1'])).toEqual([]);
    expect(valuesOf('$.texts[?search(@, $.pattern)]', { pattern: 'a{2000}', texts: ['a'] })).toEqual([]);
    expect(valuesOf('$.texts[?search(@, $.pattern)]', { pattern: 5, texts: ['5'] })).toEqual([]);
  });
});

/** json-p3 treats an array of one text as that text; the RFC says that match and search are false for anything but texts. */
function textsOnly(environment: JSONPathEnvironment): JSONPathEnvironment {
  for (const name of ['match', 'search']) {
    const known = environment.functionRegister.get(name);
    if (known === undefined) throw new Error(`json-p3 has no function ${name}`);
    environment.functionRegister.set(name, {
      argTypes: known.argTypes,
      returnType: known.returnType,
      call: (text: unknown, pattern: unknown) => typeof text === 'string' && known.call(text, pattern),
    });
  }
  return environment;
}

const refused = expect.objectContaining({ code: 'SCH_INVALID_JSONPATH', status: 400 });

function messageOf(expression: string): string {
  try {
    parseJsonPath(expression);
  } catch (error) {
    return (error as ProtocolError).message;
  }
  return '';
}

interface ComplianceCase {
  name: string;
  selector: string;
  document?: Json;
  invalid_selector?: boolean;
  result?: Json[];
  results?: Json[][];
  result_paths?: string[];
  results_paths?: string[][];
}
