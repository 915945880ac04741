import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { Config } from '../config.ts';
import type { Spent } from '../http/shared-limits.ts';
import type { OperationsStart, Process } from '../main.ts';

// Messages between the supervisor and its workers, over the channel of node:cluster:
//
//   worker: ready → supervisor: assignment → worker: started, or failed and its end
//   supervisor: stop → worker drains and ends. A closed channel means the same: the supervisor is gone.
//   supervisor: ping → worker: pong (slot.ts)
//   worker: spent → supervisor: spent, to the others (http/shared-limits.ts)
//   worker: all-metrics-wanted → supervisor: metrics-wanted, to all → workers: metrics → supervisor: all-metrics

export type FromSupervisor =
  | { kind: 'assignment'; assignment: Assignment }
  | { kind: 'stop' }
  | { kind: 'ping' }
  | { kind: 'spent'; spent: readonly Spent[] }
  | { kind: 'metrics-wanted'; question: number }
  | { kind: 'all-metrics'; question: number; text: string };

export type FromWorker =
  | { kind: 'ready' }
  | { kind: 'started'; started: Started }
  | { kind: 'failed'; reason: string }
  | { kind: 'pong' }
  | { kind: 'spent'; spent: readonly Spent[] }
  | { kind: 'metrics'; question: number; families: Families }
  | { kind: 'all-metrics-wanted'; question: number };

export interface Assignment {
  /** From 1; a replacement has the same number. */
  worker: number;
  /** The supervisor's configuration, with this worker's part of divided settings. */
  config: Config;
  operationsStart: OperationsStart;
}

export type Started = Pick<Process, 'roles' | 'operationsUrl'>;

/** The metrics of a registry in the format of prom-client. */
export type Families = MetricObjectWithValues<MetricValue<string>>[];
