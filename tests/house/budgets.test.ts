import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

// The size limit of each folder, so that the program does not grow unnoticed: lines and exported names, both without tests. A change that needs more
// room makes it by deleting something; a change that deletes lowers the figure.
const budgets: Record<string, { lines: number; names: number }> = {
  'packages/client/src': { lines: 2050, names: 99 },
  src: { lines: 2190, names: 105 },
  'src/catalog': { lines: 2270, names: 48 },
  'src/cli': { lines: 10010, names: 295 },
  'src/conform': { lines: 3050, names: 97 },
  'src/console': { lines: 5410, names: 202 },
  'src/delivery': { lines: 1800, names: 70 },
  'src/demo': { lines: 700, names: 31 },
  'src/discovery': { lines: 6760, names: 235 },
  'src/http': { lines: 4430, names: 178 },
  'src/import': { lines: 3240, names: 108 },
  'src/mcp': { lines: 1140, names: 43 },
  'src/protocol': { lines: 4930, names: 375 },
  'src/publisher': { lines: 3560, names: 159 },
  'src/registry': { lines: 1250, names: 44 },
  'src/rules': { lines: 8760, names: 454 },
  'src/schemas': { lines: 340, names: 10 },
  'src/search': { lines: 8370, names: 349 },
  'src/search/opensearch': { lines: 1000, names: 35 },
  'src/storage': { lines: 9640, names: 568 },
  'src/telemetry': { lines: 320, names: 10 },
  'src/workers': { lines: 540, names: 19 },
  'web/src': { lines: 5990, names: 153 },
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
