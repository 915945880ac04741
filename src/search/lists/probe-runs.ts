import { span } from '../documents/keys.ts';
import type { Keys } from './key-sets.ts';
import { lowerBound, readFirstKey, runHead, seek } from './posting-list.ts';

// Probes posting lists for keys, on the bytes of their runs. A common word is read to find where it stands among some thousand candidates: to decode its postings into lists, and to put
// those in order, would take several times as long.

/**
 * Raises what each key counts to that of its postings, of the key itself or of its head. Keys are in order and may be anything but heads; runs are in the order of their first keys, and may overlap.
 */
export function raiseByRuns(
  best: Float64Array,
  keys: Keys,
  packed: readonly Uint8Array[],
  weight: number,
): void {
  for (const runs of packed) raiseByPart(best, keys, runs, weight);
}

/** One run, or several one after the other. */
function raiseByPart(best: Float64Array, keys: Keys, runs: Uint8Array, weight: number): void {
  const view = new DataView(runs.buffer, runs.byteOffset, runs.byteLength);
  for (let at = 0, start = 0; at < runs.length; ) {
    start = lowerBound(keys, readFirstKey(view, at), start);
    if (start === keys.length) return;
    raiseByRun(best, keys, start, { view, runs, at }, weight);
    at += runHead.bytes + view.getUint16(at + runHead.length);
  }
}

/** From the first key that is not below those of the run. No calls and no objects for each posting. */
function raiseByRun(
  best: Float64Array,
  keys: Keys,
  start: number,
  { view, runs, at: from }: { view: DataView; runs: Uint8Array; at: number },
  weight: number,
): void {
  const count = view.getUint16(from + runHead.count);
  const end = from + runHead.bytes + view.getUint16(from + runHead.length);
  const first = readFirstKey(view, from);
  const hits = spareHits(keys.length + count);
  let found = 0;
  let catalog = Math.floor(first / span) * span;
  let number = first - catalog;
  let index = start;
  let next = keys[index] as number;
  let at = from + runHead.bytes;
  for (let ordinal = 0; ; ) {
    const posting = catalog + number;
    if (next < posting) {
      index = seek(keys, posting, index);
      next = index < keys.length ? (keys[index] as number) : Number.POSITIVE_INFINITY;
    }
    if (number === 0) {
      // What is said of a catalog is said of all its resources.
      for (let member = index; member < keys.length && (keys[member] as number) < posting + span; member++) {
        hits.indexes[found] = member;
        hits.ordinals[found++] = ordinal;
      }
    } else if (next === posting) {
      hits.indexes[found] = index;
      hits.ordinals[found++] = ordinal;
    }
    if (++ordinal === count) break;
    let catalogs = runs[at++] as number;
    if (catalogs > 127) {
      catalogs -= 128;
      for (let byte = 128, scale = 128; byte > 127; scale *= 128) {
        byte = runs[at++] as number;
        catalogs += (byte & 127) * scale;
      }
    }
    let step = runs[at++] as number;
    if (step > 127) {
      step -= 128;
      for (let byte = 128, scale = 128; byte > 127; scale *= 128) {
        byte = runs[at++] as number;
        step += (byte & 127) * scale;
      }
    }
    number = catalogs === 0 ? number + step : step;
    catalog += catalogs * span;
  }
  // Only now it is known where the weights begin, and whether all are that of the first.
  const firstWeight = view.getUint16(from + runHead.weight);
  const hasWeights = at < end;
  for (let hit = 0; hit < found; hit++) {
    const ordinal = hits.ordinals[hit] as number;
    const percent = hasWeights && ordinal > 0 ? (runs[at + ordinal - 1] as number) : firstWeight;
    const counts = weight * (percent / 100);
    const key = hits.indexes[hit] as number;
    if (counts > (best[key] as number)) best[key] = counts;
  }
}

function spareHits(length: number): typeof spare {
  if (spare.indexes.length < length)
    spare = { indexes: new Uint32Array(2 * length), ordinals: new Uint16Array(2 * length) };
  return spare;
}

let spare = { indexes: new Uint32Array(), ordinals: new Uint16Array() };
