import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillTemplate, parseTemplate } from './template.ts';

function fill(template: string, cells: Record<string, string>): string | undefined {
  return fillTemplate(parseTemplate(template), (column) => cells[column] ?? '');
}

describe('a template', () => {
  it('is filled with the cells that it names', () => {
    expect(fill('{id}-{P1 [kW]} kW', { id: 'a', 'P1 [kW]': '22' })).toBe('a-22 kW');
    expect(fill('DE', {})).toBe('DE');
  });

  it('is not filled when one of them is empty', () => {
    expect(fill('{id}-{number}', { id: 'a' })).toBeUndefined();
    expect(fill('{id}', {})).toBeUndefined();
  });

  it('loses the parts in brackets whose cells are empty', () => {
    const template = '{type}[ {power} kW[ {phase}]] at {name}';
    expect(fill(template, { type: 'CCS2', name: 'Zoo' })).toBe('CCS2 at Zoo');
    expect(fill(template, { type: 'CCS2', name: 'Zoo', power: '50' })).toBe('CCS2 50 kW at Zoo');
    expect(fill(template, { type: 'CCS2', name: 'Zoo', phase: 'AC' })).toBe('CCS2 at Zoo');
  });

  it('makes a slug of a cell, whatever script it is in', () => {
    const slugOf = (name: string) => fill('{name|slug}', { name });
    expect(slugOf('Stadtwerke Köln (AöR)')).toBe('stadtwerke-koln-aor');
    expect(slugOf('Straße & Söhne GmbH')).toBe('strasse-sohne-gmbh');
    expect(slugOf('टाटा पावर')).toBe('टाटा-पावर');
    expect(slugOf('***')).toBeUndefined();
  });

  it('has braces and brackets of its own after a backslash', () => {
    expect(fill('\\{a\\} \\[{a}\\] \\\\', { a: '1' })).toBe('{a} [1] \\');
  });

  it.each([
    ['{', 'a brace without a column'],
    ['{}', 'a brace without a column'],
    ['{a|shout}', 'unknown filter "shout"'],
    ['[{a}', 'leaves a bracket open'],
    ['{a}]', 'closes a bracket that is not open'],
  ])('%s is refused: %s', (template, reason) => {
    expect(() => parseTemplate(template)).toThrow(reason);
  });

  it('gives any text back as it was, when the text stands in a cell', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(fill('{a}', { a: text.trim() })).toBe(text.trim() === '' ? undefined : text.trim());
      }),
    );
  });
});
