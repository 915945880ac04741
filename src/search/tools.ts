import type { Logger } from '../logger.ts';
import type { Queryable } from '../storage/database.ts';
import type { IndexReader } from './cache/caches.ts';
import type { Deadline } from './deadline.ts';
import type { Scope } from './documents/scope.ts';
import type { Evaluation } from './evaluation.ts';
import type { Trace } from './trace.ts';

/** The tools of every part of a search. They never change. */
export interface Tools {
  /** Its statements end with the deadline. */
  readonly reader: IndexReader;
  readonly scope: Scope;
  readonly deadline: Deadline;
  /** Runs costly work in threads. */
  readonly evaluation: Evaluation;
  readonly trace: Trace;
  /** Without a deadline: for logs after it. */
  readonly database: Queryable;
  readonly logger?: Logger;
}
