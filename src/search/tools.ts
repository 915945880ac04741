import type { IndexReader } from './cache/caches.ts';
import type { Deadline } from './deadline.ts';
import type { Scope } from './documents/scope.ts';
import type { Evaluation } from './evaluation.ts';
import type { Trace } from './trace.ts';

/** What each part of a search works with. Nobody changes it. */
export interface Tools {
  /** Its statements end with the deadline. */
  readonly reader: IndexReader;
  readonly scope: Scope;
  readonly deadline: Deadline;
  /** Of what takes long, in threads. */
  readonly evaluation: Evaluation;
  readonly trace: Trace;
  /** Names, in the log, the geometry that was being compared when the time was over. */
  logCostly(geometry: { key: number; shape: string }): Promise<void>;
}
