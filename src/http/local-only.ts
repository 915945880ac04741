import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from '../logger.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { specialRangeOf } from '../rules/addresses.ts';

// The local trigger, a server without signatures. Requests from a page in a browser, or through a proxy, are not from the operator (as in console/guard.ts).

interface LocalServer {
  host: string;
  what: string;
}

export function keepStrangersOut(server: FastifyInstance, local: LocalServer): void {
  server.addHook('onRequest', async (request) => refuseStrangers(request, local));
}

/** In a container it may have to listen on another address, protected by other means. */
export function warnIfReachable({ host, what }: LocalServer, logger: Logger): void {
  if (isThisMachine(host)) return;
  const says = `the ${what} accepts unsigned requests from anyone who can reach it: make sure that only its users can`;
  logger.warn({ host }, says);
}

function refuseStrangers({ headers, hostname, raw }: FastifyRequest, { host, what }: LocalServer): void {
  refuseTwoHosts(raw);
  const telling = 'origin' in headers ? 'origin' : findProxyHeader(headers);
  if (telling !== undefined) throw notForStrangers(what, `no requests with the header ${telling}`);
  // After DNS rebinding, pages of another site send their own name as host.
  if (headers.host !== undefined && isThisMachine(host) && !isThisMachine(hostname))
    throw notForStrangers(what, 'only requests to localhost or a loopback address');
}

/** Node reads the first of two, and an intermediary may have checked the other (RFC 9112, 3.2). */
export function refuseTwoHosts({ rawHeaders }: IncomingMessage): void {
  if (rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length > 1)
    throw new ProtocolError('SCH_SCHEMA_VALIDATION_FAILED', 'The request has two Host headers.');
}

export function findProxyHeader(headers: IncomingHttpHeaders): string | undefined {
  return Object.keys(headers).find((name) => /^(?:forwarded|via|x-forwarded(?:-.*)?)$/.test(name));
}

/** Whether a host name or address can only mean this machine. */
export function isThisMachine(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  return bare.toLowerCase() === 'localhost' || specialRangeOf(bare) === 'loopback';
}

function notForStrangers(what: string, taken: string): ProtocolError {
  const says = `The ${what} is for programs of this machine: it accepts ${taken}.`;
  return new ProtocolError('AUT_UNAUTHORIZED_ACTION', says);
}
