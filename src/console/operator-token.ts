import { createHmac } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { isSameSecret, type KeptToken, loadOrCreateToken } from '../secret-file.ts';

// The operator token: OPERATOR_TOKEN, or one that is made at first start and kept in DATA_DIR. A browser is given a cookie instead, made from the token and
// good for a week: it holds in every process and after a restart, and another token ends it.

type TokenSettings = Pick<Config, 'OPERATOR_TOKEN' | 'DATA_DIR'>;

export function loadOrCreateOperatorToken(settings: TokenSettings): KeptToken {
  const { OPERATOR_TOKEN: given } = settings;
  return given === undefined
    ? loadOrCreateToken(operatorTokenFile(settings))
    : { token: given, isNew: false };
}

export function operatorTokenFile({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string {
  return join(resolve(DATA_DIR), 'operator-token');
}

/** Where its operator finds it, as a refusal says it. */
export function tokenPlace(settings: TokenSettings): string {
  return settings.OPERATOR_TOKEN === undefined
    ? `It stands in ${operatorTokenFile(settings)}.`
    : 'It is what OPERATOR_TOKEN says.';
}

const cookieName = 'signpost_operator';
const cookieSeconds = 7 * 86_400;

/** The value of Set-Cookie that lets a browser in. */
export function sessionCookie(token: string, { now, isSecure }: { now: Date; isSecure: boolean }): string {
  const ends = Math.floor(now.getTime() / 1000) + cookieSeconds;
  return renderCookie(`${ends}.${sealOf(token, ends)}`, { maxAge: cookieSeconds, isSecure });
}

/** The value of Set-Cookie that ends a session. */
export function endedCookie({ isSecure }: { isSecure: boolean }): string {
  return renderCookie('', { maxAge: 0, isSecure });
}

/** Whether a Cookie header has a session of this token that has not ended. */
export function hasSession(header: string | undefined, token: string, now: Date): boolean {
  const [, ends, seal] = cookiePattern.exec(header ?? '') ?? [];
  if (ends === undefined || seal === undefined) return false;
  return isSameSecret(seal, sealOf(token, Number(ends))) && Number(ends) * 1000 > now.getTime();
}

/** The seal of the session in a Cookie header, by which one session differs from another. */
export function sealIn(header: string | undefined): string | undefined {
  return cookiePattern.exec(header ?? '')?.[2];
}

const cookiePattern = new RegExp(`(?:^|;\\s*)${cookieName}=(\\d{1,12})\\.([A-Za-z0-9_-]{43})(?:;|$)`);

function renderCookie(value: string, { maxAge, isSecure }: { maxAge: number; isSecure: boolean }): string {
  const always = `${cookieName}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict`;
  return isSecure ? `${always}; Secure` : always;
}

function sealOf(token: string, ends: number): string {
  return createHmac('sha256', token).update(`console session until ${ends}`).digest('base64url');
}
