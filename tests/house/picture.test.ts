import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { drawHouse, floorOf, readArrows } from '../../scripts/house-picture.mjs';

describe('the picture of the house in ARCHITECTURE.md', () => {
  const file = 'docs/images/house.svg';
  const picture = readFileSync(file, 'utf8');

  it('is what scripts/house-picture.mjs draws from the imports', () => {
    expect(readFileSync('ARCHITECTURE.md', 'utf8')).toContain(`(${file})`);
    expect(picture, 'run node scripts/house-picture.mjs').toBe(drawHouse(readArrows()));
  });

  it('has no arrow up', () => {
    const arrows = [
      ...picture.matchAll(/data-from="([^"]+)" data-to="([^"]+)" d="M\d+ (\d+)(?:C[^"]* | )(\d+)"/g),
    ];
    expect(arrows.length).toBeGreaterThan(20);
    expect(arrows).toHaveLength(picture.match(/class="way"/g)?.length ?? 0);
    for (const [, from = '', to = '', start, end] of arrows) {
      expect(Number(end), `${from} to ${to}`).toBeGreaterThan(Number(start));
      expect(floorOf(to), `${from} to ${to}`).toBeLessThan(floorOf(from));
    }
  });

  it('has an arrow for every import between rooms, or arrows that lead to the same room', () => {
    const drawn = [...picture.matchAll(/data-from="([^"]+)" data-to="([^"]+)"/g)];
    const leads = (from: string, to: string): boolean =>
      drawn.some(([, one = '', next = '']) => one === from && (next === to || leads(next, to)));
    expect(readArrows().filter(({ from, to }) => !leads(from, to))).toEqual([]);
  });

  it('is not drawn while a room imports one of a higher floor, or one without a floor', () => {
    expect(() => drawHouse([{ from: 'protocol', to: 'cli' }])).toThrow('protocol imports cli');
    expect(() => drawHouse([{ from: 'cli', to: 'attic' }])).toThrow('cli imports attic');
  });
});
