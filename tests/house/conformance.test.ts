import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const rows = readFileSync('CONFORMANCE.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| clause'))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| ?| ?\|$/g, '').trim()))
  .map(([clause = '', file = '', test = '']) => ({ clause, file, test }))
  // The checks of `signpost conform` have tables of their own, which tests/conform/conform.test.ts reads.
  .filter(({ file }) => file !== '' && !/^`[a-z-]+`$/.test(file));

describe('CONFORMANCE.md', () => {
  it('has rows', () => expect(rows.length).toBeGreaterThan(50));

  it.each(rows)('names a file and a test that exist for: $clause', ({ file, test }) => {
    expect(existsSync(file)).toBe(true);
    const [, testFile = '', name = ''] = /^(\S+) "(.+)"$/.exec(test) ?? [];
    expect(existsSync(testFile), testFile).toBe(true);
    expect(readFileSync(testFile, 'utf8').replaceAll("\\'", "'"), `"${name}" in ${testFile}`).toContain(name);
  });
});
