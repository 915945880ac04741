import { createHmac } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { hashSecret, isSameSecret, loadOrCreateToken } from '../secret-file.ts';
import { findOperator, type KnownOperator } from '../storage/console/operators.ts';
import type { Queryable } from '../storage/database.ts';

// Operators and their tokens. The first operator has the operator token: OPERATOR_TOKEN, or one generated at the first start and kept in DATA_DIR.
// Others are rows of the database (signpost operators). A browser gets a cookie for a token, valid for a week in every process. The operator token is
// its HMAC key: a stolen database gives no sessions. Sessions end when their operator is revoked, or all of them with a new operator token.

type TokenSettings = Pick<Config, 'OPERATOR_TOKEN' | 'DATA_DIR'>;

export function loadOrCreateOperatorToken(settings: TokenSettings) {
  const { OPERATOR_TOKEN: given } = settings;
  return given === undefined
    ? loadOrCreateToken(operatorTokenFile(settings))
    : { token: given, isNew: false };
}

export function operatorTokenFile({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string {
  return join(resolve(DATA_DIR), 'operator-token');
}

export function tokenPlace(settings: TokenSettings): string {
  return settings.OPERATOR_TOKEN === undefined
    ? `It is in ${operatorTokenFile(settings)}.`
    : 'It is the value of OPERATOR_TOKEN.';
}

export type Operators = ReturnType<typeof createOperators>;

export const firstOperatorName = 'operator';

export function createOperators(token: string, database: Queryable) {
  const first: KnownOperator = { name: firstOperatorName, role: 'publish', tokenHash: hashSecret(token) };
  return {
    findByToken: async (given: string): Promise<KnownOperator | undefined> =>
      isSameSecret(given, token) ? first : findOperator(database, { tokenHash: hashSecret(given) }),
    async findBySession(header: string | undefined, now: Date) {
      const [, ends, seal, name] = cookiePattern.exec(header ?? '') ?? [];
      if (seal === undefined || Number(ends) * 1000 <= now.getTime()) return undefined;
      const operator = name === first.name ? first : await findOperator(database, { name });
      return operator && isSameSecret(seal, sealOf(token, operator, Number(ends))) ? operator : undefined;
    },
    openSession(operator: KnownOperator, { now, isSecure }: { now: Date; isSecure: boolean }) {
      const ends = Math.floor(now.getTime() / 1000) + cookieSeconds;
      const value = `${ends}.${sealOf(token, operator, ends)}.${operator.name}`;
      return renderCookie(value, { maxAge: cookieSeconds, isSecure });
    },
  };
}

const cookieName = 'signpost_operator';
const cookieSeconds = 7 * 86_400;

export function endedCookie(isSecure: boolean): string {
  return renderCookie('', { maxAge: 0, isSecure });
}

/** The seal of the session in a Cookie header, which identifies the session. */
export function sealIn(header: string | undefined): string | undefined {
  return cookiePattern.exec(header ?? '')?.[2];
}

/** Names of operators are part of a cookie. */
export const operatorName = /^[A-Za-z0-9_.@-]{1,64}$/;
const cookiePattern = new RegExp(
  `(?:^|;\\s*)${cookieName}=(\\d{1,12})\\.([A-Za-z0-9_-]{43})\\.([A-Za-z0-9_.@-]{1,64})(?:;|$)`,
);

function renderCookie(value: string, { maxAge, isSecure }: { maxAge: number; isSecure: boolean }): string {
  const always = `${cookieName}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict`;
  return isSecure ? `${always}; Secure` : always;
}

/** Includes the hash of the token, so that sessions of a revoked operator are invalid for a new operator of the same name. */
function sealOf(key: string, { name, tokenHash }: KnownOperator, ends: number): string {
  const hmac = createHmac('sha256', key).update(`console session of ${name} until ${ends}`);
  return hmac.update(tokenHash).digest('base64url');
}
