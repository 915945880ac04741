import type { Database } from '../../../src/storage/database.ts';

/**
 * Ends the leases of dead or hanging processes now, and not in twenty seconds: the test is about their work afterwards.
 * src/storage/work/due-work.test.ts shows that leases expire.
 */
export async function endLeases(database: Database): Promise<void> {
  const { rows: tables } = await database.query<{ name: string; is_due: boolean }>(
    `select format('%I.%I', table_schema, table_name) as name, bool_or(column_name = 'due_at') as is_due
     from information_schema.columns where column_name in ('leased_until', 'due_at')
     group by 1 having bool_or(column_name = 'leased_until')`,
  );
  for (const { name, is_due } of tables) {
    // A claim of due work sets both to the same time. A difference tells a living process that work was added meanwhile, so they must differ here, too.
    const due = is_due ? "due_at = least(due_at, now() - interval '1 microsecond'), " : '';
    await database.query(
      `update ${name} set ${due}leased_until = least(leased_until, now()) where leased_until > now()`,
    );
  }
}
