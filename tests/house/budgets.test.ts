import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

// The size limit of each folder, so that the program does not grow unnoticed: lines and exported names, both without tests. A change that needs more
// room makes it by deleting something; a change that deletes lowers the figure.
const budgets: Record<string, { lines: number; names: number }> = {
  'packages/client/src': { lines: 2110, names: 100 },
  src: { lines: 2200, names: 105 },
  'src/catalog': { lines: 2310, names: 48 },
  'src/cli': { lines: 10290, names: 300 },
  'src/conform': { lines: 3080, names: 97 },
  'src/console': { lines: 5550, names: 222 },
  'src/delivery': { lines: 1820, names: 70 },
  'src/demo': { lines: 710, names: 31 },
  'src/discovery': { lines: 6930, names: 235 },
  'src/http': { lines: 4520, names: 180 },
  'src/import': { lines: 3370, names: 108 },
  'src/mcp': { lines: 1150, names: 43 },
  'src/protocol': { lines: 5020, names: 375 },
  'src/publisher': { lines: 3630, names: 160 },
  'src/registry': { lines: 1290, names: 44 },
  'src/rules': { lines: 9040, names: 458 },
  'src/schemas': { lines: 340, names: 10 },
  'src/search': { lines: 8330, names: 348 },
  'src/search/opensearch': { lines: 1000, names: 34 },
  'src/storage': { lines: 9780, names: 568 },
  'src/telemetry': { lines: 320, names: 11 },
  'src/workers': { lines: 550, names: 19 },
  'web/src': { lines: 6120, names: 157 },
};
/** A figure that is further from the actual size is lowered. */
const slackLines = 200;

const sizes = measure(['packages/client/src', 'src', 'web/src']);

it('has a budget for every folder, and no other', () => {
  expect([...sizes.keys()].sort()).toEqual(Object.keys(budgets).sort());
});

describe.each(Object.entries(budgets))('%s', (folder, { lines, names }) => {
  const size = sizes.get(folder) ?? { lines: 0, names: 0 };

  it(`has at most ${lines} lines, and not far fewer`, () => {
    expect(size.lines).toBeLessThanOrEqual(lines);
    expect(size.lines).toBeGreaterThan(lines - slackLines);
  });

  it(`exports at most ${names} names`, () => {
    expect(size.names).toBeLessThanOrEqual(names);
  });
});

/** Counts each folder directly below `src`, and each folder with a separate limit; the packages and the page as a whole. */
function measure(roots: readonly string[]): Map<string, { lines: number; names: number }> {
  const found = new Map<string, { lines: number; names: number }>();
  for (const root of roots)
    for (const file of readdirSync(root, { recursive: true }).map(String)) {
      if (!/\.tsx?$/.test(file) || /\.test\.tsx?$/.test(file)) continue;
      const top = dirname(file).split(/[\\/]/)[0];
      const own = `${root}/${dirname(file)}`;
      const folder = own in budgets ? own : root === 'src' && top !== '.' ? `${root}/${top}` : root;
      const text = readFileSync(join(root, file), 'utf8');
      const { lines, names } = found.get(folder) ?? { lines: 0, names: 0 };
      const exported = text.match(/^export (?!\{|\*|default)/gm)?.length ?? 0;
      found.set(folder, { lines: lines + text.split('\n').length - 1, names: names + exported });
    }
  return found;
}
