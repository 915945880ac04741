import type { Json } from '../../protocol/json.ts';
import { isSameValue } from '../same-value.ts';
import type { ComparisonOperator } from './grammar.ts';

/** RFC 9535 section 2.3.5.2.2: `<` is defined only for two numbers or two strings, `==` for everything, including Nothing. */
export const comparisons: Record<ComparisonOperator, Comparison> = {
  '==': isSameValue,
  '!=': (left, right) => !isSameValue(left, right),
  '<': isLess,
  '>': (left, right) => isLess(right, left),
  '<=': (left, right) => isLess(left, right) || isSameValue(left, right),
  '>=': (left, right) => isLess(right, left) || isSameValue(left, right),
};

/** RFC 9535 section 2.4.4: Unicode scalar values, elements or members. */
export function lengthOf(value: Json | undefined): number | undefined {
  if (typeof value === 'string') return [...value].length;
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : undefined;
}

function isLess(left: Json | undefined, right: Json | undefined): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right;
  if (typeof left !== 'string' || typeof right !== 'string') return false;
  const end = Math.min(left.length, right.length);
  for (let at = 0; at < end; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return scalarOrder(a) < scalarOrder(b);
  }
  return left.length < right.length;
}

/** Halves of surrogate pairs represent scalar values above U+FFFF, but are below U+E000 as code units. */
function scalarOrder(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Undefined is RFC 9535's Nothing: no value at all. */
type Comparison = (left: Json | undefined, right: Json | undefined) => boolean;
