import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';

// Operators with a token of their own. Only a hash of the token is kept.

/** Each role may do what those before it may. */
export const operatorRoles = ['read', 'operate', 'publish'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

export interface Operator {
  name: string;
  role: OperatorRole;
}

export interface KnownOperator extends Operator {
  tokenHash: Buffer;
}

export async function createOperator(queryable: Queryable, operator: KnownOperator): Promise<boolean> {
  return queryable.has(sql`insert into console.operator (name, role, token_hash)
    values (${operator.name}, ${operator.role}, ${operator.tokenHash}) on conflict (name) do nothing`);
}

export async function findOperator(
  queryable: Queryable,
  { name, tokenHash }: { name?: string; tokenHash?: Buffer },
): Promise<KnownOperator | undefined> {
  return queryable.first<KnownOperator>(sql`select name, role, token_hash as "tokenHash"
    from console.operator where name = ${name} or token_hash = ${tokenHash}`);
}

export function listOperators(queryable: Queryable) {
  return queryable.rows<Operator & { createdAt: Date }>(sql`
    select name, role, created_at as "createdAt" from console.operator order by name`);
}

export async function revokeOperator(queryable: Queryable, name: string): Promise<boolean> {
  return queryable.has(sql`delete from console.operator where name = ${name}`);
}
