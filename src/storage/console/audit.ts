import type { Queryable } from '../database.ts';

// The audit log of the console: what its operator changed.

/** In UTF-16 code units. */
const maxTextLength = 500;

export interface AuditLine {
  /** As `deliveries.replay`. */
  action: string;
  target: string;
  /** `done`, or why not. */
  outcome: string;
  /** Where the request came from. */
  address: string;
}

export interface KeptAuditLine extends AuditLine {
  id: number;
  at: Date;
}

export async function writeAudit(queryable: Queryable, line: AuditLine): Promise<void> {
  const { action, target, outcome, address } = line;
  await queryable.query(
    'insert into console.audit (action, target, outcome, address) values ($1, $2, $3, $4)',
    [action, clip(target), clip(outcome), address],
  );
}

/** The latest first. */
export async function listAudit(
  queryable: Queryable,
  { limit, before }: { limit: number; before?: number },
): Promise<KeptAuditLine[]> {
  const { rows } = await queryable.query<KeptAuditLine>(
    `select id, at, action, target, outcome, address from console.audit
     where ($1::bigint is null or id < $1) order by id desc limit $2`,
    [before, limit],
  );
  return rows;
}

export async function purgeAudit(queryable: Queryable, before: Date): Promise<void> {
  await queryable.query('delete from console.audit where at < $1', [before]);
}

/** Never half of a character, which no database takes. */
function clip(text: string): string {
  if (text.length <= maxTextLength) return text;
  return `${text.slice(0, maxTextLength).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
