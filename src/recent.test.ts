import { expect, it } from 'vitest';
import { Recent } from './recent.ts';

it('keeps what was asked for last, as much as it has room for', () => {
  const recent = new Recent<string, string>(6, (text) => text.length);
  for (const name of ['a', 'b', 'c']) recent.keep(name, 'xx');
  expect(recent.find('a')).toBe('xx');
  recent.keep('d', 'xx');
  expect(Array.from(recent.entries(), ([name]) => name)).toEqual(['c', 'a', 'd']);
  recent.keep('a', 'xxxx');
  expect(Array.from(recent.entries(), ([name]) => name)).toEqual(['d', 'a']);
  recent.keep('e', 'too long');
  expect(recent.count).toBe(0);
  recent.keep('f', 'xx');
  recent.clear();
  recent.keep('g', 'xxxxxx');
  expect(recent.count).toBe(1);
});
