import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findProxyHeader, isThisMachine, refuseTwoHosts } from '../http/local-only.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import { sourceOf } from '../http/source.ts';
import type { Logger } from '../logger.ts';
import {
  type KnownOperator,
  type Operator,
  type OperatorRole,
  operatorRoles,
} from '../storage/console/operators.ts';
import { ConsoleError } from './errors.ts';
import type { Operators } from './operator-token.ts';

// Access control of the console. Each request is checked in this order, before its body is read:
//
//   1. its origin: on a loopback address, only requests that name this machine as their host and passed no proxy (DNS rebinding);
//      everywhere, no page of another origin (Origin, Sec-Fetch-Site)
//   2. its sender: an operator by the bearer token, or a browser with the session cookie and, for changes, the header that
//      only a script of our own page can add (CSRF)
//   3. its target: reading is free on a loopback address, everything else needs an operator with the role of the route

/** `open`: for everybody. Otherwise the required role of the operator; `read` is free on a loopback address. */
export type Access = 'open' | OperatorRole;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default: GET needs the role `read`, everything else `operate`. */
    access?: Access;
  }
  interface FastifyRequest {
    operator?: Operator;
  }
}

export interface GuardOptions {
  host: string;
  operators: Operators;
  tokenPlace: string;
  attempts: RateLimit;
  now(): Date;
}

/** The header that must accompany the cookie in requests for changes. */
const csrfHeader = 'x-signpost';
const csrfValue = 'console';

/** Wrong tokens from one source: a burst of ten, then one every five seconds. */
export const attemptLimits = { perSecond: 0.2, burst: 10 };

export function guardConsole(server: FastifyInstance, options: GuardOptions): void {
  const isLocal = isThisMachine(options.host);
  server.decorateRequest('operator');
  server.addHook('onRequest', async (request, reply) => {
    refuseStrangers(request, isLocal);
    const access = accessOf(request);
    // Everybody may load the page, even while the database with the operators is down.
    if (access === 'open' && !request.url.startsWith('/api/')) return;
    const sender = await findSender(request, options);
    if (typeof sender === 'object') request.operator = sender;
    if (access === 'open' || (access === 'read' && isLocal)) return;
    if (request.operator) return refuseBeyondRole(request.operator, access);
    if (sender === 'browser without header')
      throw new ConsoleError('AUT_UNAUTHORIZED_ACTION', `The cookie alone is not enough for changes.`, {
        hint: `Send the header "${csrfHeader}: ${csrfValue}" with it.`,
      });
    reply.header('www-authenticate', 'Bearer realm="console"');
    throw new ConsoleError('AUT_SIGNATURE_MISSING', 'The console requires an operator token.', {
      hint: `${options.tokenPlace} Send it as "Authorization: Bearer …", or sign in at the page.`,
    });
  });
}

function refuseBeyondRole({ name, role }: Operator, needed: OperatorRole): void {
  if (operatorRoles.indexOf(role) >= operatorRoles.indexOf(needed)) return;
  throw new ConsoleError(
    'AUT_UNAUTHORIZED_ACTION',
    `The operator ${name} has the role ${role}; this needs the role ${needed}.`,
    { hint: `Use a token of that role: signpost operators create NAME --role ${needed}` },
  );
}

/** Throws unless it is an operator's token. A valid token always passes: wrong ones from the same address lock no operator out. */
export async function verifyToken(
  given: string,
  { ip }: Pick<FastifyRequest, 'ip'>,
  { operators, tokenPlace, attempts }: GuardOptions,
): Promise<KnownOperator> {
  const operator = await operators.findByToken(given);
  if (operator) return operator;
  const retryAfterSeconds = attempts.take(sourceOf(ip), performance.now());
  if (retryAfterSeconds > 0)
    throw new ConsoleError('AUT_RATE_LIMITED', 'Too many wrong tokens came from this address.', {
      ...{ retryAfterSeconds, hint: tokenPlace },
    });
  throw new ConsoleError('AUT_SIGNATURE_INVALID', 'This is not the token of an operator.', {
    hint: tokenPlace,
  });
}

export function warnIfReachable(host: string, logger: Logger): void {
  if (isThisMachine(host)) return;
  logger.warn(
    { host },
    'the console is reachable without TLS, so others can read operator tokens in transit: put a proxy with TLS in front of it',
  );
}

function refuseStrangers(request: FastifyRequest, isLocal: boolean): void {
  const { headers, hostname, raw } = request;
  refuseTwoHosts(raw);
  if (isLocal) {
    const telling = findProxyHeader(headers);
    if (telling !== undefined) throw refused(`it refuses requests with the header ${telling}`);
    // After DNS rebinding, pages of another site send their own name as host.
    if (headers.host !== undefined && !isThisMachine(hostname))
      throw refused('it accepts only requests to localhost or a loopback address');
  }
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && hostOf(origin) !== host?.toLowerCase())
    throw refused('it refuses requests from pages of another origin');
  if (typeof site === 'string' && !['same-origin', 'none'].includes(site) && !isLinkToPage(request))
    throw refused('it refuses requests from pages of another origin');
}

/** Other sites may link to the console's page. Their scripts, images and frames may load nothing from it, and their links may not open /api/. */
function isLinkToPage({ headers, method, routeOptions: { url = '' } }: FastifyRequest): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination = 'document' } = headers;
  return method === 'GET' && mode === 'navigate' && destination === 'document' && !url.startsWith('/api/');
}

function refused(why: string): ConsoleError {
  return new ConsoleError('AUT_UNAUTHORIZED_ACTION', `The console is only for its operator: ${why}.`);
}

/** Undefined for `null` and other values that are no origin. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** An expired cookie counts as none; a wrong token is always an error. */
async function findSender(request: FastifyRequest, options: GuardOptions) {
  const { headers, method } = request;
  const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (given !== undefined) return verifyToken(given, request, options);
  const operator = await options.operators.findBySession(headers.cookie, options.now());
  if (!operator) return 'anybody';
  const isSafe = ['GET', 'HEAD'].includes(method) || headers[csrfHeader] === csrfValue;
  return isSafe ? operator : 'browser without header';
}

/** Monitoring reads these without a token. */
const watched = ['/health', '/ready'];

function accessOf({ method, routeOptions: { config, url = '' } }: FastifyRequest): Access {
  if (watched.includes(url)) return 'open';
  return config.access ?? (['GET', 'HEAD'].includes(method) ? 'read' : 'operate');
}
