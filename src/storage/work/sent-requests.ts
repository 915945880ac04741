import { chainValues } from '../../protocol/request-signature.ts';
import type { Queryable, Transaction } from '../database.ts';
import { deleteBefore } from '../delete-in-batches.ts';

// Requests that we sent and that are answered by a callback, remembered before they leave: a callback is taken by whichever process it
// reaches, also after a restart. And the callbacks that were taken: the same one again does nothing again.

const purgeBatch = 5_000;

export interface SentRequest {
  /** The role that sent it. */
  role: string;
  messageId: string;
  action: string;
  /** Of the raw body. */
  digest: string;
  /** Until when its callback is waited for. */
  expires: Date;
}

/** Call it before each attempt to send, with that attempt's Authorization header. */
export async function rememberSent(
  queryable: Queryable,
  request: SentRequest,
  authorization: string,
): Promise<void> {
  const { role, messageId, action, digest, expires } = request;
  await queryable.query(
    `insert into work.sent_request as sent (role, message_id, action, digest, signatures, expires)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (role, message_id) do update set signatures = sent.signatures || excluded.signatures, expires = excluded.expires`,
    [role, messageId, action, digest, chainValues(authorization), expires],
  );
}

/** By what a callback may name a request with this messageId: two values of each attempt to send it. */
export async function findChainValues(queryable: Queryable, role: string, messageId: string) {
  const found = await queryable.value<string[] | undefined>(
    'select signatures from work.sent_request where role = $1 and message_id = $2',
    [role, messageId],
  );
  return found ?? [];
}

export function findSent(queryable: Queryable, role: string, messageId: string) {
  return queryable.first<{ action: string; digest: string }>(
    'select action, digest from work.sent_request where role = $1 and message_id = $2',
    [role, messageId],
  );
}

export interface TakenCallback {
  role: string;
  messageId: string;
  /** Identity of its signer. */
  signer: string;
  action: string;
  /** Of its raw body: another body under the same messageId is a further answer. */
  digest: string;
}

/** False when it was taken before. */
export async function takeCallback(tx: Transaction, callback: TakenCallback): Promise<boolean> {
  const { role, messageId, signer, action, digest } = callback;
  const { rowCount } = await tx.query(
    `insert into work.taken_callback (role, message_id, signer, action, digest) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [role, messageId, signer, action, digest],
  );
  return rowCount > 0;
}

/** Forgets requests whose callback is not waited for any more, with what is known of their callbacks; returns how many. */
export const purgeSent = deleteBefore(
  `delete from work.sent_request where (role, message_id) in (
       select role, message_id from work.sent_request where expires < $1 order by expires limit $2 for update skip locked
     )`,
  purgeBatch,
);
