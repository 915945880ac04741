import type { Run } from '../cache/caches.ts';
import { span } from '../keys.ts';

// The bytes of a run. Keys are delta-encoded: the distance in catalogs, then the number in the new catalog, or its increase in the same catalog, usually one or two bytes.
// A run begins with a head: number of entries (2 bytes), number of bytes of steps (2), bytes per mark (2), the first key (8). Then come the steps, seven bits per byte, with the eighth bit set if more follow, and the marks, unless
// all are 0.

/** Bytes of a mark: none, weights below 256, or any number. */
export type MarkBytes = 0 | 1 | 8;

const head = { count: 0, steps: 2, markBytes: 4, first: 6, bytes: 14 };

export function encodeRun({ keys, marks }: Run, markBytes: MarkBytes): Uint8Array {
  const steps: number[] = [];
  let before = keys[0] as number;
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] as number;
    const catalogs = Math.floor(key / span) - Math.floor(before / span);
    writeNumber(steps, catalogs);
    writeNumber(steps, catalogs === 0 ? key - before : key % span);
    before = key;
  }
  const bytes = Buffer.allocUnsafe(head.bytes + steps.length + keys.length * markBytes);
  bytes.writeUInt16BE(keys.length, head.count);
  bytes.writeUInt16BE(steps.length, head.steps);
  bytes.writeUInt16BE(markBytes, head.markBytes);
  bytes.writeBigInt64BE(BigInt(keys[0] as number), head.first);
  bytes.set(steps, head.bytes);
  const at = head.bytes + steps.length;
  if (markBytes === 1) bytes.set(marks, at);
  if (markBytes === 8)
    for (let index = 0; index < keys.length; index++)
      bytes.writeDoubleBE(marks[index] as number, at + index * 8);
  return bytes;
}

function writeNumber(bytes: number[], number: number): void {
  let rest = number;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
}

/** Every search runs this on all its data, so it avoids calls and objects. */
export function decodeRun(bytes: Uint8Array): Run {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = view.getUint16(head.count);
  const markBytes = view.getUint16(head.markBytes);
  const first = view.getInt32(head.first) * 2 ** 32 + view.getUint32(head.first + 4);
  const keys = new Float64Array(count);
  keys[0] = first;
  let number = first % span;
  let catalog = first - number;
  let at = head.bytes;
  for (let index = 1; index < count; index++) {
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
    catalog += catalogs * span;
    keys[index] = catalog + number;
  }
  if (markBytes === 8) {
    const values = new Float64Array(count);
    for (let index = 0; index < count; index++, at += 8) values[index] = view.getFloat64(at);
    return { keys, marks: values };
  }
  return {
    keys,
    marks: markBytes === 1 ? Uint8Array.from(bytes.subarray(at, at + count)) : new Uint8Array(count),
  };
}
