// By itself: commands that read files as the crawler does load this, and no database.

/** Somebody else has the row now, because this lease ran out: nothing may be written any more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor(table: string, id: number) {
    super(`the lease on ${table} ${id} was lost`);
  }
}
