import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

// The tables of threats in SECURITY.md: threat, defence, test. A cell of tests has one or more of: `file` "title", or `file` "beginning of the title…".

const text = readFileSync('SECURITY.md', 'utf8');
const threats = text.slice(text.indexOf('\n## Threats\n'), text.indexOf('\n## What is not met\n'));
const namedTest = /`([^`]+)` "((?:\\"|[^"])+)"/g;

const rows = threats
  .split('\n')
  .filter((line) => /^\| (?!threat \|)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '))
  .map(([threat = '', met = '', shown = '', ...rest]) => ({ threat, met, shown, rest }));

describe('SECURITY.md', () => {
  it('has a row for each of many threats, and each threat once', () => {
    expect(rows.length).toBeGreaterThan(80);
    expect(new Set(rows.map(({ threat }) => threat)).size).toBe(rows.length);
  });

  it.each(rows)('names files that exist where it says how this is met: $threat', ({ met, rest }) => {
    expect(rest).toEqual([]);
    const files = [...met.matchAll(/`([^` ]+\/[^` ]+)`|\]\(([^)#]+)/g)].map(
      ([, quoted, linked]) => quoted ?? linked ?? '',
    );
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it.each(rows)('names tests that exist, by their title or its beginning, for: $threat', ({ shown }) => {
    if (shown === 'no test') return;
    expect(shown.replaceAll(namedTest, '').trim()).toBe('');
    const missing = [...shown.matchAll(namedTest)].filter(
      ([, file = '', title = '']) => !hasTitle(file, title.replaceAll('\\"', '"')),
    );
    expect(missing.map(([named]) => named)).toEqual([]);
  });
});

/** Whether a file has a string with this text or this beginning: the title of a test, or the name of a case. */
function hasTitle(file: string, title: string): boolean {
  if (!/\.test\.ts$/.test(file) || !existsSync(file)) return false;
  const source = readFileSync(file, 'utf8').replaceAll("\\'", "'");
  return ["'", '"', '`'].some((quote) =>
    source.includes(title.endsWith('…') ? `${quote}${title.slice(0, -1)}` : `${quote}${title}${quote}`),
  );
}
