import type { Queryable } from '../database.ts';

// Which receivers take callbacks only under a three-line signature, for all processes. See delivery/callback-forms.ts.

export async function isPlainReceiver(queryable: Queryable, receiver: string, now: Date): Promise<boolean> {
  const { rowCount } = await queryable.query(
    'select from work.plain_receiver where receiver = $1 and until > $2',
    [receiver, now],
    { prepared: true },
  );
  return rowCount > 0;
}

export async function rememberPlainReceiver(
  queryable: Queryable,
  receiver: string,
  until: Date,
): Promise<void> {
  await queryable.query(
    `insert into work.plain_receiver (receiver, until) values ($1, $2)
     on conflict (receiver) do update set until = excluded.until`,
    [receiver, until],
  );
}

export async function forgetPlainReceiver(queryable: Queryable, receiver: string): Promise<void> {
  await queryable.query('delete from work.plain_receiver where receiver = $1', [receiver]);
}

/** Removes what is remembered of receivers for longer than it holds; returns how many those were. */
export async function purgePlainReceivers(queryable: Queryable, now: Date): Promise<number> {
  const { rowCount } = await queryable.query('delete from work.plain_receiver where until <= $1', [now]);
  return rowCount;
}
