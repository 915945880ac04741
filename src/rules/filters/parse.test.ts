import { describe, expect, it } from 'vitest';
import { normalizedPath } from '../../../tests/support/values/normalized-path.ts';
import { readVectors } from '../../../tests/support/values/vectors.ts';
import type { Json } from '../../protocol/json.ts';
import { parseFilter } from './parse.ts';

const postfix = '$.catalogs[*].resources[*] ? (@.a == 1)';

describe('parseFilter', () => {
  const suite = readVectors<{ tests: ComplianceCase[] }>('jsonpath-cts/cts.json');

  it.skipIf(suite === undefined).each([true, false])(
    'passes the compliance suite of RFC 9535, accepting the postfix form: %s (needs the jsonpath-cts vectors)',
    (acceptPostfix) => {
      for (const { name, selector, document = null, ...expected } of suite?.tests ?? []) {
        if (expected.invalid_selector) {
          expect(() => parseFilter(selector, { acceptPostfix }), name).toThrow(/^invalid JSONPath/);
          continue;
        }
        const filter = parseFilter(selector, { acceptPostfix });
        expect(filter.grammar, name).toBe('rfc9535');
        const nodes = filter.find(document);
        expect(expected.results ?? [expected.result], name).toContainEqual(nodes.map(({ value }) => value));
        const paths = expected.results_paths ?? [expected.result_paths];
        expect(paths, name).toContainEqual(nodes.map(({ path }) => normalizedPath(path)));
      }
    },
  );

  it('says which grammar read the expression', () => {
    expect(parseFilter('$.catalogs[*]', { acceptPostfix: true }).grammar).toBe('rfc9535');
    expect(parseFilter(postfix, { acceptPostfix: true }).grammar).toBe('postfix');
  });

  it('refuses the postfix form where it is not accepted', () => {
    expect(() => parseFilter(postfix, { acceptPostfix: false })).toThrow(
      expect.objectContaining({ code: 'SCH_INVALID_JSONPATH', path: '$.message.intent.filters.expression' }),
    );
  });

  it.each([
    ['$.catalogs[*].resources[?@.a = 1]', 30],
    ['$.catalogs[*].resources[*] ? (@.a = 1)', 35],
  ])('reports the error of the grammar that got further: %s', (expression, character) => {
    expect(() => parseFilter(expression, { acceptPostfix: true })).toThrow(
      new RegExp(`at character ${character}$`),
    );
  });
});

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
