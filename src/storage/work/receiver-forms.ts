import type { Queryable } from '../database.ts';

// Which forms receivers take other than the usual ones, for all processes. See delivery/receiver-forms.ts.

/** `plain`: callbacks under a three-line signature. `strict`: messages in strict form. */
export type UnusualForm = 'plain' | 'strict';

export async function findForms(queryable: Queryable, receiver: string, now: Date) {
  const { rows } = await queryable.query<{ form: UnusualForm }>(
    'select form from work.receiver_form where receiver = $1 and until > $2',
    [receiver, now],
    { prepared: true },
  );
  return new Set(rows.map(({ form }) => form));
}

export async function rememberForm(
  queryable: Queryable,
  receiver: string,
  form: UnusualForm,
  until: Date,
): Promise<void> {
  await queryable.query(
    `insert into work.receiver_form (receiver, form, until) values ($1, $2, $3)
     on conflict (receiver, form) do update set until = excluded.until`,
    [receiver, form, until],
  );
}

export async function forgetForm(queryable: Queryable, receiver: string, form: UnusualForm): Promise<void> {
  await queryable.query('delete from work.receiver_form where receiver = $1 and form = $2', [receiver, form]);
}

/** Removes what is remembered of receivers for longer than it holds; returns how many rows those were. */
export async function purgeForms(queryable: Queryable, now: Date): Promise<number> {
  const { rowCount } = await queryable.query('delete from work.receiver_form where until <= $1', [now]);
  return rowCount;
}
