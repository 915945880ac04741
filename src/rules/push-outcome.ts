import type { ToldState } from './push-message.ts';
import type { BodyForm } from './strict-form.ts';

// The effect of a push answer on the state of its receiver (catalog spec: POST /catalog/push, the table of answers):
//
//   200       acknowledged
//   202       acknowledged, but the receiver may not have kept it: the next change is sent as FULL
//   400       parked until the next change, which is sent as FULL; so is 200 with NACK
//   413       sent again at once in parts of half the size, which grows again with each accepted push
//   others    tried again with patience; parked when the time is over

export interface PushRecord extends ToldState {
  state: PushState;
  /** Size limit of a body; null: the usual limit. */
  partBytes: number | null;
  attempts: number;
  failingSince: Date | null;
  lastStatus: number | null;
  lastError: string | null;
  form: BodyForm | null;
}

type PushState = 'pending' | 'acknowledged' | 'withdrawn' | 'parked' | 'no endpoint' | 'skipped';

export type PushOutcome =
  | { kind: 'nothing to say' }
  | { kind: 'no endpoint'; reason: string }
  | { kind: 'acknowledged'; status: number; remark?: string; said: SaidCatalog }
  | { kind: 'refused'; status: number; reason: string }
  | FailedPush;

export interface SaidCatalog {
  version: number;
  networks: readonly string[];
  withdrawn: boolean;
}

export interface FailedPush {
  kind: 'failed';
  status?: number;
  reason: string;
  /** No answer came: the receiver may or may not have processed it. */
  unanswered: boolean;
  /** No answer came, and it may have arrived anyway. */
  lost: boolean;
  /** An earlier part was accepted. */
  begun: boolean;
  tooLargeBytes?: number;
  failingSince: Date;
  /** How long the next attempt waits; undefined if the time for attempts is over. */
  dueInMs?: number;
  restMs?: number;
}

interface NextRecord {
  record: PushRecord;
  dueInMs: number | null;
  /** How long it is not due, even if there is a new version. */
  restMs?: number;
}

export function applyOutcome(
  record: PushRecord,
  outcome: PushOutcome,
  { maxPartBytes, at }: { maxPartBytes: number; at: Date },
): NextRecord {
  const atRest = { ...record, attempts: 0, failingSince: null, lastError: null };
  switch (outcome.kind) {
    case 'nothing to say': {
      const state = record.withdrawn ? 'withdrawn' : 'acknowledged';
      return { dueInMs: null, record: { ...atRest, state } };
    }
    case 'no endpoint': {
      const lastError = outcome.reason;
      return { dueInMs: null, record: { ...atRest, state: 'no endpoint', lastStatus: null, lastError } };
    }
    case 'acknowledged': {
      const { status, remark = null, said } = outcome;
      const told: PushRecord = {
        ...atRest,
        state: said.withdrawn ? 'withdrawn' : 'acknowledged',
        acknowledgedVersion: said.withdrawn ? record.acknowledgedVersion : said.version,
        networks: said.networks,
        withdrawn: said.withdrawn,
        needsFull: status === notProcessed,
        inFlight: false,
        partBytes: largerPart(record.partBytes, maxPartBytes),
        lastStatus: status,
        lastError: remark,
      };
      return { dueInMs: null, record: told };
    }
    case 'refused': {
      const { status: lastStatus, reason: lastError } = outcome;
      const failed = countFailure(record, record.failingSince ?? at);
      return {
        dueInMs: null,
        record: { ...failed, state: 'parked', needsFull: true, lastStatus, lastError },
      };
    }
    case 'failed':
      return applyFailure(record, outcome, maxPartBytes);
  }
}

/** Catalog spec, POST /catalog/push: authenticated and received, but not processed further; not a failure. */
export const notProcessed = 202;

function applyFailure(record: PushRecord, failure: FailedPush, maxPartBytes: number): NextRecord {
  const { status, reason, dueInMs, restMs, tooLargeBytes } = failure;
  const failed: PushRecord = {
    ...record,
    state: 'pending',
    // An unknown outcome stays unknown until a push is acknowledged.
    inFlight: record.inFlight || failure.lost,
    needsFull: record.needsFull || failure.unanswered || failure.begun,
    lastStatus: status ?? null,
    lastError: reason,
  };
  const partBytes =
    tooLargeBytes === undefined ? undefined : smallerPart(record.partBytes ?? maxPartBytes, tooLargeBytes);
  if (partBytes !== undefined) return { dueInMs: 0, record: { ...failed, partBytes } };
  const counted = countFailure(failed, failure.failingSince);
  if (dueInMs === undefined)
    return { dueInMs: null, record: { ...counted, state: 'parked', needsFull: true } };
  return { dueInMs, restMs, record: counted };
}

/** A parked push keeps both: after that, the next change, or a replay by an operator, starts again. */
function countFailure(record: PushRecord, failingSince: Date): PushRecord {
  return { ...record, attempts: record.attempts + 1, failingSince };
}

/** Size limit of the next body after one of `bodyBytes` got 413; undefined if it had a single document and cannot be smaller. */
export function smallerPart(partBytes: number, bodyBytes: number): number | undefined {
  return bodyBytes > partBytes ? undefined : Math.floor(bodyBytes / 2);
}

/** Growth of the limit learned from 413. Slow, because each step too far wastes a body. */
const growth = 1 / 16;

/** Size limit of the next body after a push was accepted: the receiver, or a proxy before it, may accept more than before. */
export function largerPart(partBytes: number | null, maxPartBytes: number): number | null {
  if (partBytes === null) return null;
  const larger = Math.ceil(partBytes * (1 + growth));
  return larger < maxPartBytes ? larger : null;
}
