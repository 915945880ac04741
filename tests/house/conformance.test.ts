import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { discoveryChecks } from '../../src/conform/discovery-checks.ts';
import { draftClauses } from '../../src/conform/nfh-014.ts';
import { treeChecks } from '../../src/conform/tree-checks.ts';

const [specification = '', draft = ''] = readFileSync('CONFORMANCE.md', 'utf8').split('\n## NFH-014');

const rows = specification
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| clause'))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| ?| ?\|$/g, '').trim()))
  .map(([clause = '', file = '', test = '']) => ({ clause, file, test }))
  // The checks of `signpost conform` have separate tables, which tests/conform/conform.test.ts reads.
  .filter(({ file }) => file !== '' && !/^`[a-z-]+`$/.test(file));

describe('CONFORMANCE.md', () => {
  it('has rows', () => expect(rows.length).toBeGreaterThan(50));

  it.each(rows)('names a file and a test that exist for: $clause', ({ file, test }) => {
    expect(existsSync(file)).toBe(true);
    const [, testFile = '', name = ''] = /^(\S+) "(.+)"$/.exec(test) ?? [];
    expectTest(testFile, name);
  });
});

describe('CONFORMANCE.md on NFH-014', () => {
  const draftRows = draft.split('\n').filter((line) => /^\| (CON-TBD-)?\d/.test(line));

  it('has a row for each clause and each open question, in order', () => {
    const numbers = draftRows.map((row) => /^\| (\S+)/.exec(row)?.[1]);
    const questions = Array.from({ length: 10 }, (_, index) => String(index + 1));
    expect(numbers).toEqual([...draftClauses.map(({ id }) => id), ...questions]);
  });

  it.each(draftRows)('names tests and checks that exist: %s', (row) => {
    for (const [, testFile = '', name = ''] of row.matchAll(/(\S+\.test\.ts) "([^"]+)"/g))
      expectTest(testFile, name);
    const checks = [...discoveryChecks, ...treeChecks].map(({ name }) => name);
    for (const [, check] of row.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)) expect(checks).toContain(check);
  });

  it.each(draftRows.filter((row) => row.startsWith('| CON-TBD-')))(
    'has test and counter-example: %s',
    (row) => {
      const [, verdict = '', test = '', counterExample = ''] = row.split(' | ');
      if (verdict.startsWith('does not apply')) return;
      expect(test).toMatch(/\.test\.ts "/);
      expect(counterExample).toMatch(/\.test\.ts "|`[a-z-]+`|the same test/);
    },
  );
});

function expectTest(file: string, name: string): void {
  expect(existsSync(file), file).toBe(true);
  expect(readFileSync(file, 'utf8').replaceAll("\\'", "'"), `"${name}" in ${file}`).toContain(name);
}
