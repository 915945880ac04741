import type { Queryable } from '../database.ts';

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

/** False if the name is taken. */
export async function createOperator(queryable: Queryable, operator: KnownOperator): Promise<boolean> {
  const { rowCount } = await queryable.query(
    'insert into console.operator (name, role, token_hash) values ($1, $2, $3) on conflict (name) do nothing',
    [operator.name, operator.role, operator.tokenHash],
  );
  return rowCount === 1;
}

export async function findOperator(
  queryable: Queryable,
  { name, tokenHash }: { name?: string; tokenHash?: Buffer },
): Promise<KnownOperator | undefined> {
  const { rows } = await queryable.query<KnownOperator>(
    'select name, role, token_hash as "tokenHash" from console.operator where name = $1 or token_hash = $2',
    [name, tokenHash],
  );
  return rows[0];
}

export async function listOperators(queryable: Queryable): Promise<(Operator & { createdAt: Date })[]> {
  const { rows } = await queryable.query<Operator & { createdAt: Date }>(
    'select name, role, created_at as "createdAt" from console.operator order by name',
  );
  return rows;
}

/** False if there is none of that name. */
export async function revokeOperator(queryable: Queryable, name: string): Promise<boolean> {
  const { rowCount } = await queryable.query('delete from console.operator where name = $1', [name]);
  return rowCount === 1;
}
