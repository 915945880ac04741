// In a separate file: commands that read files like the crawler load this, and no database.

/** Another process has the row now, because this lease expired: nothing may be written any more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor(table: string, id: number) {
    super(`the lease on ${table} ${id} was lost`);
  }
}
