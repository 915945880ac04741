import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';

// Which receivers need unusual forms, for all processes. See delivery/receiver-forms.ts.

/** `plain`: callbacks under a three-line signature. `strict`: messages in strict form. */
export type UnusualForm = 'plain' | 'strict';

export async function findForms(queryable: Queryable, receiver: string, now: Date) {
  const forms = await queryable.column<UnusualForm>(
    sql`select form from work.receiver_form where receiver = ${receiver} and until > ${now}`,
    { prepared: true },
  );
  return new Set(forms);
}

export async function rememberForm(queryable: Queryable, receiver: string, form: UnusualForm, until: Date) {
  await queryable.query(sql`
    insert into work.receiver_form (receiver, form, until) values (${receiver}, ${form}, ${until})
    on conflict (receiver, form) do update set until = excluded.until`);
}

export async function forgetForm(queryable: Queryable, receiver: string, form: UnusualForm): Promise<void> {
  await queryable.query(sql`delete from work.receiver_form where receiver = ${receiver} and form = ${form}`);
}
