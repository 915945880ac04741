import { span } from '../documents/keys.ts';
import { sortRows } from './columns.ts';

// Posting lists: the sorted keys of the documents that have a fact or a word, each with a weight. A list is cut into runs, each of which is one row. A run is delta-encoded: its first key, and
// then the steps from key to key, mostly in a byte or two. So the hundred thousand postings of a common word are read in the time of some hundred rows.

/** Keys in ascending order, none twice, and what each counts: a small whole number. */
export interface KeyList {
  keys: Float64Array;
  weights: Uint8Array;
}

/** A list of keys, divided: catalogs' own keys, which stand for all their resources, and all others. */
export interface WholeList {
  heads: KeyList;
  others: KeyList;
}

export interface ListRest {
  list: number;
  /** The lowest key of the next part. */
  from: number;
}

/** Part of a list: of keys, or of numbers (number-list.ts). */
export interface Run {
  /** The first and the last key, or the lowest and the highest number. */
  first: number;
  last: number;
  count: number;
  /** What the first key counts. */
  weight: number;
  /** All of it; null for a run of one key. */
  bytes: Uint8Array | null;
}

/** A run stays below two kilobytes, beyond which PostgreSQL would put it elsewhere. */
export const maxRunKeys = 320;

export const emptyList: KeyList = { keys: new Float64Array(), weights: new Uint8Array() };

/** As few runs as can be. */
export function toRuns({ keys, weights }: KeyList): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < keys.length; start += maxRunKeys) {
    const end = Math.min(start + maxRunKeys, keys.length);
    const run = { keys: keys.subarray(start, end), weights: weights.subarray(start, end) };
    const [first = 0, weight = 0, last = 0] = [run.keys[0], run.weights[0], run.keys.at(-1)];
    const count = end - start;
    runs.push({ first, last, count, weight, bytes: count === 1 ? null : encode(run) });
  }
  return runs;
}

/** The same object where it is in order already: as a rule it is. */
export function sortPostings(list: KeyList): KeyList {
  const { keys } = list;
  let inOrder = 1;
  while (inOrder < keys.length && (keys[inOrder - 1] as number) <= (keys[inOrder] as number)) inOrder++;
  if (inOrder >= keys.length) return list;
  return sortRows(list, (a, b) => (keys[a] as number) > (keys[b] as number));
}

/** The index of the first key that is not lower: a binary search. */
export function lowerBound(keys: Float64Array, key: number, from = 0, end = keys.length): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as number) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of the first key that is not lower, from an index whose key is lower: a galloping search, in which what is near is found soon. */
export function seek(keys: Float64Array, key: number, from: number): number {
  let low = from;
  let step = 1;
  for (; low + step < keys.length && (keys[low + step] as number) < key; step *= 2) low += step;
  return lowerBound(keys, key, low + 1, Math.min(low + step, keys.length));
}

// The bytes of a run begin with a head: how many keys, how many bytes after the head, the first key and what it counts. Then come the steps: how
// many catalogs farther, and the number in that catalog or, within the same one, how much higher. Seven bits go into a byte; the eighth
// says that more follow. Last come the weights of the other keys, unless all are that of the first.

export const runHead = { count: 0, length: 2, first: 4, weight: 12, bytes: 14 };

/** The bytes of a run, also of one key, in SQL. As bytes alone, runs are read many times as fast as row by row. */
export const runBytes =
  'coalesce(bytes, int2send(1::smallint) || int2send(0::smallint) || int8send(first::bigint) || int2send(weight))';

function encode({ keys, weights }: KeyList): Uint8Array {
  const steps: number[] = [];
  let before = keys[0] as number;
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] as number;
    const catalogs = Math.floor(key / span) - Math.floor(before / span);
    writeNumber(steps, catalogs);
    writeNumber(steps, catalogs === 0 ? key - before : key % span);
    before = key;
  }
  const areEqual = weights.every((weight) => weight === weights[0]);
  const body = areEqual ? steps : [...steps, ...weights.subarray(1)];
  const bytes = Buffer.allocUnsafe(runHead.bytes + body.length);
  bytes.writeUInt16BE(keys.length, runHead.count);
  bytes.writeUInt16BE(body.length, runHead.length);
  bytes.writeBigInt64BE(BigInt(keys[0] as number), runHead.first);
  bytes.writeUInt16BE(weights[0] as number, runHead.weight);
  bytes.set(body, runHead.bytes);
  return bytes;
}

function writeNumber(bytes: number[], number: number): void {
  let rest = number;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
}

/** Runs one after the other, their keys in the order in which they come; and of each run where its keys begin. */
export function readRuns(bytes: Uint8Array): { list: KeyList; starts: number[] } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const starts: number[] = [];
  let count = 0;
  for (let at = 0; at < bytes.length; at += runHead.bytes + view.getUint16(at + runHead.length)) {
    starts.push(count);
    count += view.getUint16(at + runHead.count);
  }
  const list = { keys: new Float64Array(count), weights: new Uint8Array(count) };
  let at = 0;
  for (const start of starts) {
    decode(view, bytes, at, list, start);
    at += runHead.bytes + view.getUint16(at + runHead.length);
  }
  return { list, starts };
}

/** Of the run that begins at a byte. */
function readFirstKey(view: DataView, from: number): number {
  return view.getInt32(from + runHead.first) * 2 ** 32 + view.getUint32(from + runHead.first + 4);
}

/** Every search does this with all that it reads: no calls, no objects. */
function decode(
  view: DataView,
  bytes: Uint8Array,
  from: number,
  { keys, weights }: KeyList,
  start: number,
): void {
  const count = view.getUint16(from + runHead.count);
  const end = from + runHead.bytes + view.getUint16(from + runHead.length);
  const first = readFirstKey(view, from);
  keys[start] = first;
  weights.fill(view.getUint16(from + runHead.weight), start, start + count);
  let catalogKey = first - (first % span);
  let number = first % span;
  let at = from + runHead.bytes;
  for (let index = start + 1; index < start + count; index++) {
    let catalogs = bytes[at++] as number;
    if (catalogs > 127) {
      catalogs -= 128;
      for (let byte = 128, scale = 128; byte > 127; scale *= 128) {
        byte = bytes[at++] as number;
        catalogs += (byte & 127) * scale;
      }
    }
    let step = bytes[at++] as number;
    if (step > 127) {
      step -= 128;
      for (let byte = 128, scale = 128; byte > 127; scale *= 128) {
        byte = bytes[at++] as number;
        step += (byte & 127) * scale;
      }
    }
    number = catalogs === 0 ? number + step : step;
    catalogKey += catalogs * span;
    keys[index] = catalogKey + number;
  }
  if (at < end) weights.set(bytes.subarray(at, end), start + 1);
}
