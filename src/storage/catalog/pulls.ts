import type { Transaction } from '../database.ts';
import { newRow, sql } from '../sql.ts';
import { type Claim, settle } from '../work/due-work.ts';

// Pulls that were acknowledged and are not answered yet. A pull is gone when its on_pull is queued, in the same transaction.

export const pullTable = 'catalog.pull';

interface NewPull {
  owner: string;
  subscriptionId: string;
  limit: number;
  offset: number;
  context: string;
  digest: string;
  requestSignature: string;
  requestId: number;
  callbackUrl: string;
}

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
  const { limit: pageLimit, offset: pageOffset, ...rest } = pull;
  const row = newRow({ ...rest, pageLimit, pageOffset, dueAt: sql`now()` });
  await tx.query(sql`insert into catalog.pull ${row}`);
  tx.hint(pullTable);
}

export function countPulls(tx: Transaction, owner: string) {
  return tx.value<number>(sql`select count(*) from catalog.pull where owner = ${owner}`);
}

/** Throws LeaseLost when somebody else works on it by now. */
export async function finishPull(tx: Transaction, claim: Claim<DuePull>): Promise<void> {
  await settle(tx, pullTable, claim, { dueInMs: null });
  await tx.query(sql`delete from catalog.pull where id = ${claim.id}`);
}
