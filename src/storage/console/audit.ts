import type { Queryable } from '../database.ts';
import { newRow, sql } from '../sql.ts';
import { clip } from '../texts.ts';

// The audit log: changes by operators, at the console or by a command.

/** In UTF-16 code units. */
const maxTextLength = 500;

export interface Actor {
  actor: 'console' | 'cli';
  /** The name of the operator at the console; the system user who ran a command. */
  operator: string;
  address?: string | null;
}

export interface AuditLine extends Actor {
  /** For example `deliveries.replay`. */
  action: string;
  target: string;
  /** `done`, or the reason for a failure. */
  outcome: string;
}

interface KeptAuditLine extends AuditLine {
  id: number;
  at: Date;
}

export async function writeAudit(queryable: Queryable, line: AuditLine): Promise<void> {
  const { actor, operator, action, address } = line;
  const [target, outcome] = [clip(line.target, maxTextLength), clip(line.outcome, maxTextLength)];
  await queryable.query(
    sql`insert into console.audit ${newRow({ actor, operator, action, target, outcome, address })}`,
  );
}

export function listAudit(queryable: Queryable, { limit, before }: { limit: number; before?: number }) {
  return queryable.rows<KeptAuditLine>(sql`
    select id, at, actor, operator, action, target, outcome, address from console.audit
    where (${before}::bigint is null or id < ${before}) order by id desc limit ${limit}`);
}
