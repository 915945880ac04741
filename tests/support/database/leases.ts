import type { Database } from '../../../src/storage/database.ts';

/**
 * The leases of processes that are dead, or hang, end now, and not in twenty seconds: what is under test is what becomes of their work then. That
 * they end by themselves, src/storage/work/due-work.test.ts shows.
 */
export async function endLeases(database: Database): Promise<void> {
  const { rows: tables } = await database.query<{ name: string; is_due: boolean }>(
    `select format('%I.%I', table_schema, table_name) as name, bool_or(column_name = 'due_at') as is_due
     from information_schema.columns where column_name in ('leased_until', 'due_at')
     group by 1 having bool_or(column_name = 'leased_until')`,
  );
  for (const { name, is_due } of tables) {
    // A claim of due work sets both to the same time. A process that lives tells by the difference that work was found meanwhile: so they must differ here, too.
    const due = is_due ? "due_at = least(due_at, now() - interval '1 microsecond'), " : '';
    await database.query(
      `update ${name} set ${due}leased_until = least(leased_until, now()) where leased_until > now()`,
    );
  }
}
