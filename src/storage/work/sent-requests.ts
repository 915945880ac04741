import { chainValues } from '../../protocol/request-signature.ts';
import type { Queryable, Transaction } from '../database.ts';
import { newRow, sql } from '../sql.ts';

// Requests that we sent and that are answered by a callback, remembered before they leave: a callback is taken by whichever process it
// reaches, also after a restart. And the callbacks that were taken: the same one again does nothing again.

interface SentRequest {
  role: string;
  messageId: string;
  action: string;
  digest: string;
  expires: Date;
}

/** Call it before each attempt to send, with that attempt's Authorization header. */
export async function rememberSent(queryable: Queryable, request: SentRequest, authorization: string) {
  const row = newRow({ ...request, signatures: chainValues(authorization) });
  await queryable.query(sql`insert into work.sent_request as sent ${row}
    on conflict (role, message_id) do update set signatures = sent.signatures || excluded.signatures, expires = excluded.expires`);
}

/** By what a callback may name a request with this messageId: two values of each attempt to send it. */
export async function findChainValues(queryable: Queryable, role: string, messageId: string) {
  const found = await queryable.value<string[] | undefined>(sql`select signatures from work.sent_request
    where role = ${role} and message_id = ${messageId}`);
  return found ?? [];
}

export function findSent(queryable: Queryable, role: string, messageId: string) {
  return queryable.first<{ action: string; digest: string }>(sql`select action, digest from work.sent_request
    where role = ${role} and message_id = ${messageId}`);
}

/** Another body under the same messageId is a further answer. */
interface TakenCallback extends Omit<SentRequest, 'expires'> {
  signer: string;
}

/** False when it was taken before. */
export async function takeCallback(tx: Transaction, callback: TakenCallback): Promise<boolean> {
  return tx.has(sql`insert into work.taken_callback ${newRow(callback)} on conflict do nothing`);
}
