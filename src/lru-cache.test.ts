import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LruCache } from './lru-cache.ts';

const namesIn = (recent: LruCache<string, string>) => Array.from(recent.entries(), ([name]) => name).sort();

describe('what was asked for lately', () => {
  it('stays when others have to go', () => {
    const recent = new LruCache<string, string>(6, (text) => text.length);
    for (const name of ['a', 'b', 'c']) recent.keep(name, 'xx');
    expect(recent.find('a')).toBe('xx');
    recent.keep('d', 'xx');
    expect(namesIn(recent)).toEqual(['a', 'c', 'd']);
    recent.keep('a', 'xxxx');
    expect(namesIn(recent)).toEqual(['a', 'd']);
  });

  it('stays no longer than it is asked for', () => {
    const recent = new LruCache<string, string>(2);
    recent.keep('a', 'x');
    recent.find('a');
    for (const name of ['b', 'c', 'd']) recent.keep(name, 'x');
    expect(namesIn(recent)).toEqual(['c', 'd']);
  });

  it('goes, too, where all of it was asked for', () => {
    const recent = new LruCache<string, string>(3);
    for (const name of ['a', 'b', 'c']) recent.keep(name, 'x');
    for (const name of ['c', 'b', 'a']) recent.find(name);
    recent.keep('d', 'x');
    expect(namesIn(recent)).toEqual(['b', 'c', 'd']);
  });

  it('does not go for what is too large', () => {
    const recent = new LruCache<string, string>(6, (text) => text.length);
    recent.keep('a', 'xxxxxx');
    recent.keep('b', 'too long');
    expect(namesIn(recent)).toEqual(['a']);
    recent.keep('a', 'too long');
    expect(recent.find('a')).toBeUndefined();
  });

  it('has room again for what was forgotten', () => {
    const recent = new LruCache<string, string>(6, (text) => text.length);
    recent.keep('a', 'xxx');
    recent.forget('a');
    recent.keep('b', 'xxx');
    recent.keep('c', 'xxx');
    expect(namesIn(recent)).toEqual(['b', 'c']);
    recent.clear();
    recent.keep('d', 'xxxxxx');
    expect(namesIn(recent)).toEqual(['d']);
  });

  it('is never more than there is room for, and as it was kept', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.record({ kind: fc.constantFrom('keep', 'find', 'forget'), name, size: fc.nat(12) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const recent = new LruCache<string, string>(10, (text) => text.length);
        const all = new Map<string, string>();
        for (const { kind, name, size } of steps) {
          if (kind === 'keep') {
            recent.keep(name, 'x'.repeat(size));
            all.set(name, 'x'.repeat(size));
          } else if (kind === 'forget') {
            recent.forget(name);
            all.delete(name);
          } else {
            recent.find(name);
          }
          const kept = [...recent.entries()];
          expect(kept.reduce((sum, [, text]) => sum + text.length, 0)).toBeLessThanOrEqual(10);
          for (const [each, text] of kept) expect(text).toBe(all.get(each));
        }
      }),
    );
  });
});
