import { sortRows } from './columns.ts';
import type { Run } from './posting-list.ts';

// Number lists: the numbers under one path, sorted by value, each with the key of its resource. They are kept in runs as posting lists are (posting-list.ts), without compression: a number takes
// sixteen bytes.

/** As a rule in the order of values and, of equal ones, of keys; none twice. */
export interface NumberList {
  keys: Float64Array;
  values: Float64Array;
}

/** A run stays below two kilobytes, beyond which PostgreSQL would put it elsewhere. */
export const maxRunNumbers = 120;

/** As few runs as can be. */
export function toNumberRuns({ keys, values }: NumberList): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < keys.length; start += maxRunNumbers) {
    const end = Math.min(start + maxRunNumbers, keys.length);
    const [first, last] = [values[start] as number, values[end - 1] as number];
    runs.push({ first, last, count: end - start, weight: 0, bytes: encode(keys, values, start, end) });
  }
  return runs;
}

// The bytes of a run: how many numbers, then the value and the key of each.

const headBytes = 2;
const numberBytes = 16;

function encode(keys: Float64Array, values: Float64Array, start: number, end: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(headBytes + (end - start) * numberBytes);
  let at = bytes.writeUInt16BE(end - start);
  for (let index = start; index < end; index++) {
    at = bytes.writeDoubleBE(values[index] as number, at);
    at = bytes.writeDoubleBE(keys[index] as number, at);
  }
  return bytes;
}

/** Runs one after the other, each in order; and the lowest value of each. */
export function readNumberRuns(bytes: Uint8Array): { list: NumberList; firsts: number[] } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const starts: number[] = [];
  let count = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = view.getUint16(at);
    starts.push(at);
    count += length;
    at += headBytes + length * numberBytes;
  }
  const list = { keys: new Float64Array(count), values: new Float64Array(count) };
  let index = 0;
  for (const start of starts) {
    const end = start + headBytes + view.getUint16(start) * numberBytes;
    for (let at = start + headBytes; at < end; at += numberBytes, index++) {
      list.values[index] = view.getFloat64(at);
      list.keys[index] = view.getFloat64(at + 8);
    }
  }
  return { list, firsts: starts.map((start) => view.getFloat64(start + headBytes)) };
}

/** The keys of one value in runs one after the other, in the order in which they come. */
export function findKeys(bytes: Uint8Array, value: number): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const keys: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + headBytes + view.getUint16(at) * numberBytes;
    for (at += headBytes; at < end; at += numberBytes)
      if (view.getFloat64(at) === value) keys.push(view.getFloat64(at + 8));
  }
  return keys;
}

export function sortByValue(list: NumberList): NumberList {
  const { keys, values } = list;
  return sortRows(list, (a, b) => {
    const difference = (values[a] as number) - (values[b] as number);
    return difference > 0 || (difference === 0 && (keys[a] as number) > (keys[b] as number));
  });
}
