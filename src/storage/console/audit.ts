import type { Queryable } from '../database.ts';
import { newRow, sql } from '../sql.ts';
import { clip } from '../texts.ts';

// The audit log: what operators changed, at the console or by a command.

/** In UTF-16 code units. */
const maxTextLength = 500;

export interface Actor {
  actor: 'console' | 'cli';
  /** The name of the operator at the console; the user of the system that ran a command. */
  operator: string;
  address?: string | null;
}

export interface AuditLine extends Actor {
  /** As `deliveries.replay`. */
  action: string;
  target: string;
  /** `done`, or why not. */
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
