import { describe, expect, it } from 'vitest';
import { keyOf } from '../documents/keys.ts';
import { VerdictMemory } from './verdict-cache.ts';

const [a, b, other] = [keyOf(1, 1), keyOf(1, 2), keyOf(2, 1)];

describe('the memory of checks', () => {
  it('knows of each resource and each check by itself', () => {
    const memory = new VerdictMemory(10_000);
    memory.keep('cheap', [a, other], new Set([a]));
    expect([a, b, other].map((key) => memory.find('cheap')(key))).toEqual([true, undefined, false]);
    expect(memory.find('blue')(a)).toBeUndefined();
    memory.keep('cheap', [b], new Set([b]));
    expect([a, b, other].map((key) => memory.find('cheap')(key))).toEqual([true, true, false]);
  });

  it('forgets a catalog with all that was said of its resources', () => {
    const memory = new VerdictMemory(10_000);
    for (const check of ['cheap', 'blue']) memory.keep(check, [a, b, other], new Set([a]));
    memory.forget(1);
    const known = ['cheap', 'blue'].map((check) => [a, b, other].map((key) => memory.find(check)(key)));
    expect(known).toEqual([
      [undefined, undefined, false],
      [undefined, undefined, false],
    ]);
    memory.clear();
    expect(memory.find('cheap')(other)).toBeUndefined();
  });

  it('knows what was said last of a resource, whichever number it has', () => {
    const memory = new VerdictMemory(1_000_000);
    const keys = Array.from({ length: 100 }, (_, index) => keyOf(1, index * 7 + 1));
    const passing = new Set(keys.filter((_, index) => index % 3 === 0));
    memory.keep('cheap', keys, new Set(keys));
    memory.keep('cheap', keys, passing);
    expect(keys.map(memory.find('cheap'))).toEqual(keys.map((key) => passing.has(key)));
    expect(memory.find('cheap')(keyOf(1, 2))).toBeUndefined();
  });

  it('knows so much of a catalog, the last that was said', () => {
    const memory = new VerdictMemory(1_000_000);
    for (let number = 0; number <= 1_000; number++) memory.keep(`check ${number}`, [a], new Set());
    const known = [0, 1, 1_000].map((number) => memory.find(`check ${number}`)(a));
    expect(known).toEqual([undefined, false, false]);
  });

  it('takes no check for another one when it has had too many', () => {
    const memory = new VerdictMemory(1_000_000);
    memory.keep('cheap', [a], new Set([a]));
    for (let number = 0; number <= 10_000; number++) memory.keep(`check ${number}`, [other], new Set());
    expect(memory.find('cheap')(a)).toBeUndefined();
    memory.keep('cheap', [b], new Set());
    expect([a, b].map(memory.find('cheap'))).toEqual([undefined, false]);
  });

  it('forgets catalogs that were not asked for when it is full', () => {
    const memory = new VerdictMemory(800);
    memory.keep('cheap', [a], new Set());
    memory.keep('cheap', [other], new Set());
    memory.find('cheap')(a);
    memory.keep('cheap', [keyOf(3, 1)], new Set());
    expect([a, other, keyOf(3, 1)].map(memory.find('cheap'))).toEqual([false, undefined, false]);
  });
});
