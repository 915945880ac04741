import { describe, expect, it } from 'vitest';
import { plain } from './colour.ts';
import { oneLine, printable, renderTable } from './command.ts';

describe('what others have written', () => {
  it('gives no commands to the terminal', () => {
    expect(printable('\u001b[2J\u001b]0;mine\u0007\r\u009b31m\u007f\u202etxt.exe')).toBe(
      '\\u001b[2J\\u001b]0;mine\\u0007\\u000d\\u009b31m\\u007f\\u202etxt.exe',
    );
  });

  it('stays what it is where it is only text, in lines and columns', () => {
    const text = 'ಬೆಂಗಳೂರು\tČeská · 充電\nשלום 😀';
    expect(printable(text)).toBe(text);
    expect(oneLine('Borne à 22\u00a0kW')).toBe('Borne à 22\u00a0kW');
  });

  it('means the same in JSON', () => {
    const value = { name: 'a\u0085b\u202ec\u001bd' };
    expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value);
  });

  it('cannot pretend to be a line of ours', () => {
    expect(oneLine('mine\nok    index\u2028fake')).toBe('mine\\u000aok    index\\u2028fake');
    expect(plain(renderTable(['ID'], [['a\nb']])).split('\n')).toEqual(['ID', 'a\\u000ab']);
  });
});
