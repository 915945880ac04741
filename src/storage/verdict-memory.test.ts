import { describe, expect, it } from 'vitest';
import { keyOf } from './discovery-keys.ts';
import { VerdictMemory } from './verdict-memory.ts';

const [a, b, other] = [keyOf(1, 1), keyOf(1, 2), keyOf(2, 1)];

describe('the memory of checks', () => {
  it('knows of each resource and each check by itself', () => {
    const memory = new VerdictMemory(10_000);
    memory.keep('cheap', [a, other], new Set([a]));
    expect([a, b, other].map((key) => memory.find('cheap', key))).toEqual([true, undefined, false]);
    expect(memory.find('blue', a)).toBeUndefined();
    memory.keep('cheap', [b], new Set([b]));
    expect([a, b, other].map((key) => memory.find('cheap', key))).toEqual([true, true, false]);
  });

  it('forgets a catalog with all that was said of its resources', () => {
    const memory = new VerdictMemory(10_000);
    for (const check of ['cheap', 'blue']) memory.keep(check, [a, b, other], new Set([a]));
    memory.forget(1);
    const known = ['cheap', 'blue'].map((check) => [a, b, other].map((key) => memory.find(check, key)));
    expect(known).toEqual([
      [undefined, undefined, false],
      [undefined, undefined, false],
    ]);
    memory.clear();
    expect(memory.find('cheap', other)).toBeUndefined();
  });

  it('knows so many checks of a catalog, the last ones', () => {
    const memory = new VerdictMemory(100_000);
    for (let number = 0; number <= 100; number++) memory.keep(`check ${number}`, [a], new Set());
    expect([0, 1, 100].map((number) => memory.find(`check ${number}`, a))).toEqual([undefined, false, false]);
  });

  it('forgets catalogs that were not asked for when it is full', () => {
    const memory = new VerdictMemory(1_200);
    memory.keep('cheap', [a], new Set());
    memory.keep('cheap', [other], new Set());
    memory.find('cheap', a);
    memory.keep('cheap', [keyOf(3, 1)], new Set());
    expect([a, other, keyOf(3, 1)].map((key) => memory.find('cheap', key))).toEqual([
      false,
      undefined,
      false,
    ]);
    memory.keep('blue', [a, b], new Set());
    memory.keep('large', [a, b], new Set());
    expect(['cheap', 'blue', 'large'].map((check) => memory.find(check, a))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
