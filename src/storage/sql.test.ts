import { describe, expect, it } from 'vitest';
import { assign, join, newRow, raw, type Sql, sql } from './sql.ts';

const plain = ({ text, values }: Sql) => ({ text, values });

describe('a statement', () => {
  it('has every value as a parameter, and never in its text', () => {
    const id = "1'; drop table job; --";
    expect(plain(sql`select from job where id = ${id} and attempts < ${3}`)).toEqual({
      text: 'select from job where id = $1 and attempts < $2',
      values: [id, 3],
    });
  });

  it('counts on through the parts that it is made of', () => {
    const isDue = sql`due_at <= ${'now'} and ${raw('"state"')} = ${'open'}`;
    expect(plain(sql`select ${1} from job where ${isDue} or ${isDue} limit ${2}`)).toEqual({
      text: 'select $1 from job where due_at <= $2 and "state" = $3 or due_at <= $4 and "state" = $5 limit $6',
      values: [1, 'now', 'open', 'now', 'open', 2],
    });
  });

  it('joins parts, also none', () => {
    expect(plain(join([sql`a = ${1}`, sql`b`, sql`${2} = c`], ' and '))).toEqual({
      text: 'a = $1 and b and $2 = c',
      values: [1, 2],
    });
    expect(plain(sql`(${join([], ', ')})`)).toEqual({ text: '()', values: [] });
  });

  it('names the columns of a row as its members, in small letters', () => {
    const row = { catalogKey: 1, due_at: sql`now()`, note: undefined };
    expect(plain(sql`insert into job ${newRow(row)}`)).toEqual({
      text: 'insert into job ("catalog_key", "due_at", "note") values ($1, now(), $2)',
      values: [1, undefined],
    });
    expect(plain(sql`update job set ${assign(row)}`)).toEqual({
      text: 'update job set "catalog_key" = $1, "due_at" = now(), "note" = $2',
      values: [1, undefined],
    });
  });

  it('has the name of a column as a name, whatever it is', () => {
    expect(assign({ 'a" = 1; --': 2 }).text).toBe('"a"" = 1; --" = $1');
  });
});
