import type { Queryable } from '../database.ts';
import { deleteBefore } from '../delete-in-batches.ts';
import { clip } from '../parameters.ts';

// The audit log: what operators changed, at the console or by a command.

/** In UTF-16 code units. */
const maxTextLength = 500;

export interface Actor {
  actor: 'console' | 'cli';
  /** The name of the operator at the console; the user of the system that ran a command. */
  operator: string;
  /** Where a request to the console came from. */
  address?: string | null;
}

export interface AuditLine extends Actor {
  /** As `deliveries.replay`. */
  action: string;
  target: string;
  /** `done`, or why not. */
  outcome: string;
}

export interface KeptAuditLine extends AuditLine {
  id: number;
  at: Date;
}

export async function writeAudit(queryable: Queryable, line: AuditLine): Promise<void> {
  const { actor, operator, action, target, outcome, address } = line;
  await queryable.query(
    'insert into console.audit (actor, operator, action, target, outcome, address) values ($1, $2, $3, $4, $5, $6)',
    [actor, operator, action, clip(target, maxTextLength), clip(outcome, maxTextLength), address],
  );
}

/** The latest first. */
export function listAudit(queryable: Queryable, { limit, before }: { limit: number; before?: number }) {
  return queryable.rows<KeptAuditLine>(
    `select id, at, actor, operator, action, target, outcome, address from console.audit
     where ($1::bigint is null or id < $1) order by id desc limit $2`,
    [before, limit],
  );
}

/** Forgets lines from before a time; returns how many. */
export const purgeAudit = deleteBefore(
  'delete from console.audit where id in (select id from console.audit where at < $1 order by at limit $2)',
);
