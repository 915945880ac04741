import type { Transaction } from '../database.ts';
import { type Claim, settle } from '../work/due-work.ts';

// Pulls that were acknowledged and are not answered yet. A pull is gone when its on_pull is queued, in the same transaction.

/** The table of due work; hints on a channel of the same name tell of new rows in it. */
export const pullTable = 'catalog.pull';

export interface NewPull {
  owner: string;
  subscriptionId: string;
  limit: number;
  offset: number;
  /** The request's context, as JSON text. */
  context: string;
  /** Of the request's raw body. */
  digest: string;
  requestSignature: string;
  requestId: number;
  callbackUrl: string;
}

/** The row of a claimed pull. */
export interface DuePull {
  owner: string;
  subscription_id: string;
  page_limit: number;
  page_offset: number;
  context: string;
  digest: string;
  request_signature: string;
  request_id: number | null;
  callback_url: string;
}

export async function insertPull(tx: Transaction, pull: NewPull): Promise<void> {
  const { owner, subscriptionId, limit, offset, context, digest, requestSignature, requestId } = pull;
  await tx.query(
    `insert into catalog.pull (owner, subscription_id, page_limit, page_offset, context, digest, request_signature,
       request_id, callback_url, due_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())`,
    [
      ...[owner, subscriptionId, limit, offset, context, digest, requestSignature],
      ...[requestId, pull.callbackUrl],
    ],
  );
  tx.hint(pullTable);
}

/** How many pulls of an owner are not answered yet. */
export function countPulls(tx: Transaction, owner: string) {
  return tx.value<number>('select count(*) from catalog.pull where owner = $1', [owner]);
}

/** Throws LeaseLost when somebody else works on it by now. */
export async function finishPull(tx: Transaction, claim: Claim<DuePull>): Promise<void> {
  await settle(tx, pullTable, claim, { dueInMs: null });
  await tx.query('delete from catalog.pull where id = $1', [claim.id]);
}
