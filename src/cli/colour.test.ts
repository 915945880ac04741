import { describe, expect, it } from 'vitest';
import { coloured, paint, paintWord, plain } from './colour.ts';
import { printable, renderTable } from './command.ts';

describe('colours', () => {
  it('are marks until the end of printing, where a terminal is given them and a file is not', () => {
    const text = `${paint('bad', 'parked')} since noon`;
    expect(plain(text)).toBe('parked since noon');
    expect(coloured(printable(text))).toBe('\u001b[31mparked\u001b[39m since noon');
  });

  it('are all that a painted text can do to a terminal', () => {
    expect(coloured(printable(paint('good', '\u001b[2J')))).toBe('\u001b[32m\\u001b[2J\u001b[39m');
  });

  it('say how something stands', () => {
    expect(paintWord('ACCEPTED')).toBe(paint('good', 'ACCEPTED'));
    expect(paintWord('voltpath')).toBe('voltpath');
  });

  it('do not count in the width of a column', () => {
    const table = renderTable(
      ['STATE', 'OF'],
      [
        ['parked', 'a'],
        ['pending', 'b'],
      ],
    );
    expect(plain(table).split('\n')).toEqual(['STATE    OF', 'parked   a', 'pending  b']);
  });
});
