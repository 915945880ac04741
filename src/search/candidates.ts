import type { IndexReader } from './cache/caches.ts';
import type { Deadline } from './deadline.ts';
import type { Evaluation } from './evaluation.ts';
import type { DocumentCheck } from './filter/check-documents.ts';
import type { DocumentVersions } from './format/formats-in-use.ts';
import type { IndexFormat } from './format/index-format.ts';
import type { Plan } from './plan.ts';
import type { KeyedShape } from './spatial/read-geometries.ts';
import type { Trace } from './trace.ts';

/** One search under way: what it needs, and what it has done so far. */
export interface Search {
  plan: Plan;
  /** Those of which the index has entries, the newest first. */
  formats: readonly IndexFormat[];
  /** Where there are several: which one a document has. */
  versions?: DocumentVersions;
  /** Its statements end with the deadline. */
  database: IndexReader;
  deadline: Deadline;
  /** Of what takes long, in threads. */
  evaluation: Evaluation;
  trace: Trace;
  /** Waits until a page of so many resources may be read. */
  beforePage?(resources: number): Promise<void>;
  /** Names, in the log, the geometry that was being compared when the time was over. */
  logCostly(geometry: KeyedShape): Promise<void>;
  /** Counts candidates that the filter looked at, and how many of them passed. */
  count(candidates: number, passed: number): void;
}

/** Resources in the order of the answer, part by part, none twice; a catalog's own key stands for all its resources. */
export interface Candidates {
  keys: AsyncIterable<ArrayLike<number>>;
  /** What is left to be checked on their documents. */
  check?: DocumentCheck;
  /** The filter selects them. */
  isSelected?: boolean;
  /** They belong to searched catalogs and the filter selects them: nothing is left. */
  isSettled?: boolean;
}

export interface Proposal {
  by: string;
  /** How many there are, as far as was seen. */
  estimate: number;
  open(): Promise<Candidates>;
}

/** A part that proposes more is not selective. */
export function limitSelective({ text, filter }: Plan): number {
  return text !== undefined && filter?.exact !== false ? fewBesideText : few;
}

const few = 2_000;
/** A text would have to be held against geometries and filter ten thousand by ten thousand, however many resources have its words. */
const fewBesideText = 20_000;

/** All of them in one part, or none. */
export async function* streamOnce<K extends ArrayLike<number>>(keys: K): AsyncGenerator<K> {
  if (keys.length > 0) yield keys;
}

/** At least so many at a time, perhaps fewer the first time, until all have come. */
export async function* gather(
  parts: AsyncIterable<ArrayLike<number>>,
  first: number,
  then = first,
): AsyncGenerator<ArrayLike<number>> {
  let held: ArrayLike<number>[] = [];
  let count = 0;
  let least = first;
  for await (const part of parts) {
    held.push(part);
    count += part.length;
    if (count < least) continue;
    yield concatenate(held, count);
    [held, count, least] = [[], 0, then];
  }
  if (count > 0) yield concatenate(held, count);
}

/** Mostly it is one part, which is not copied. */
function concatenate(parts: readonly ArrayLike<number>[], count: number): ArrayLike<number> {
  if (parts.length === 1 && parts[0]) return parts[0];
  const all = new Float64Array(count);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
