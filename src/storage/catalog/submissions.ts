import type { Queryable, Transaction } from '../database.ts';
import { newRow, sql } from '../sql.ts';

// Accepted publishes. A publisher's submissions take effect one after the other in the order of acceptance: the due work is the publisher's
// lane, not the submission, and accepting one locks the lane first, so that ids rise within a lane in the order in which they committed.

export const laneTable = 'catalog.lane';

interface NewSubmission {
  publisher: string;
  recordSubscriberId: string;
  /** Networks of the publisher, as the same registry record says. */
  networkMemberships: readonly string[];
  messageId: string;
  acceptedAt: Date;
  /** JSON text. */
  context: string;
  /** As it was signed. */
  body: Buffer;
  digest: string;
  requestSignature: string;
  requestId?: number;
  callbackUrl: string;
  traceparent?: string | null;
}

/** Without its body, which may be large and is asked for separately. */
export interface OpenSubmission extends Omit<NewSubmission, 'body'> {
  id: number;
  bytes: number;
  /** Catalogs of it that have a result already, by their position in the message. */
  done: number[];
  /** Bytes that the resources of these inherit, or would have inherited. */
  inheritedBytes: number;
}

export interface DueLane {
  publisher: string;
}

/** Takes a place at the end of the lane of a publisher, and holds the lane until the transaction ends: it must not wait for other locks afterwards. */
export async function lockLane(tx: Transaction, publisher: string): Promise<void> {
  await tx.query(sql`insert into catalog.lane as lane (publisher, due_at) values (${publisher}, now())
    on conflict (publisher) do update set due_at = least(lane.due_at, now())`);
  tx.hint(laneTable);
}

/** The share of a publisher in the backlog, including work in progress. */
export interface BacklogShare {
  rows: number;
  /** Size of their bodies together; a single one may be larger. */
  bytes: number;
}

/** Returns its id; undefined when it does not fit into the share. Wants the publisher's lane locked, so that what is counted here cannot grow. */
export function insertSubmission(tx: Transaction, submission: NewSubmission, share: BacklogShare) {
  const { publisher, body } = submission;
  return tx.value<number | undefined>(sql`with waiting as (
      select count(*) as rows, coalesce(sum(octet_length(body)), 0) as bytes from catalog.submission
      where publisher = ${publisher} and done_at is null
    )
    insert into catalog.submission
      (publisher, record_subscriber_id, message_id, accepted_at, context, body, digest, request_signature, request_id, callback_url,
       network_memberships, traceparent)
    select ${publisher}, ${submission.recordSubscriberId}, ${submission.messageId}, ${submission.acceptedAt}::timestamptz,
      ${submission.context}::json, ${body}::bytea, ${submission.digest}, ${submission.requestSignature}, ${submission.requestId}::bigint,
      ${submission.callbackUrl}, ${submission.networkMemberships}::text[], ${submission.traceparent} from waiting
    where waiting.rows < ${share.rows}::bigint and (waiting.rows = 0 or waiting.bytes + ${body.length} <= ${share.bytes}::bigint)
    returning id`);
}

export function findOpenSubmission(queryable: Queryable, publisher: string) {
  return queryable.first<OpenSubmission>(sql`
    select id, publisher, record_subscriber_id as "recordSubscriberId", message_id as "messageId", accepted_at as "acceptedAt",
      network_memberships as "networkMemberships", context, digest, request_signature as "requestSignature", request_id as "requestId",
      callback_url as "callbackUrl", traceparent,
      octet_length(body) as bytes, array(select position from catalog.submission_result where submission_id = submission.id) as done,
      (select coalesce(sum(inherited_bytes), 0)::bigint from catalog.submission_result where submission_id = submission.id) as "inheritedBytes"
    from catalog.submission where publisher = ${publisher} and done_at is null order by id limit 1`);
}

/** As it was signed; null once the submission is done. */
export function readSubmissionBody(queryable: Queryable, submissionId: number) {
  return queryable.value<Buffer | null>(sql`select body from catalog.submission where id = ${submissionId}`);
}

/** Throws AlreadyApplied, which undoes the transaction, when the catalog has a result: a process that lost its lease and its successor cannot both apply it. */
export async function recordResult(tx: Transaction, submissionId: number, result: NewResult): Promise<void> {
  const row = newRow({ submissionId, inheritedBytes: 0, ...result });
  const written = await tx.count(sql`insert into catalog.submission_result ${row}
    on conflict (submission_id, position) do nothing`);
  if (written === 0) throw new AlreadyApplied();
}

interface NewResult {
  position: number;
  catalogId: string;
  /** JSON texts. */
  result: string;
  warnings?: string;
  inheritedBytes?: number;
}

export class AlreadyApplied extends Error {
  override readonly name = 'AlreadyApplied';

  constructor() {
    super('this catalog of the submission has been applied');
  }
}

export function readResults(tx: Transaction, submissionId: number) {
  return tx.rows<{ result: string; warnings: string | null }>(sql`select result, warnings
    from catalog.submission_result where submission_id = ${submissionId} order by position`);
}

export interface ResultSummary {
  acceptedAt: Date;
  messageId: string;
  publisher: string;
  /** JSON texts. */
  result: string;
  warnings: string | null;
}

export function listResults(queryable: Queryable, catalogId: string, limit: number) {
  return queryable.rows<ResultSummary>(sql`
    select accepted_at as "acceptedAt", message_id as "messageId", publisher, result, warnings
    from catalog.submission_result join catalog.submission on id = submission_id
    where catalog_id = ${catalogId} order by submission_id desc limit ${limit}`);
}

export async function finishSubmission(tx: Transaction, submissionId: number, now: Date): Promise<void> {
  await tx.query(sql`update catalog.submission set done_at = ${now}, body = null where id = ${submissionId}`);
}

export function countOpenSubmissions(queryable: Queryable) {
  return queryable.column<number>(sql`select count(*) as open from catalog.submission
    where done_at is null group by publisher`);
}
