import { describe, expect, it } from 'vitest';
import { renderCsv } from './issues.ts';

describe('the CSV of issues', () => {
  it.each(['=1+1', '+1', '-1', '@SUM(1)', '\t=1'])(
    'does not let a spreadsheet take %j for a formula',
    (text) => {
      const [, row] = renderCsv([{ code: 'file-missing', message: text, count: 1 }]).split('\r\n');
      expect(row).toMatch(`file-missing,'${text},`);
    },
  );

  it('quotes cells with commas, quotes and line breaks', () => {
    const [, row] = renderCsv([{ code: 'file-missing', message: '=a,"b"', count: 1 }]).split('\r\n');
    expect(row).toBe(`file-missing,"'=a,""b""",,,,1,`);
  });
});
