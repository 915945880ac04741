import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { overloaded } from '../protocol/errors.ts';
import { type Account, createShares } from './shares.ts';
import { sourceOf } from './source.ts';

export interface ConnectionLimits {
  /** All connections; as many again from trusted proxies, each of which may serve many clients. */
  all: number;
  /** Connections of one source address that is not a trusted proxy; behind a proxy, concurrent requests of one client. */
  perSource: number;
}

/** Closes connections beyond the limits as soon as they are accepted, so that nobody can hold all of them. */
export function limitConnections(
  server: Server,
  { all, perSource }: ConnectionLimits,
  isProxy: (address: string) => boolean,
  onRefused: (full: string) => void = () => {},
): void {
  const shares = createShares();
  const accountsOf = (address: string): Account[] => {
    if (isProxy(address)) return [{ name: 'proxies', limit: all }];
    return [
      { name: `source ${sourceOf(address)}`, limit: perSource },
      { name: 'all', limit: all },
    ];
  };
  server.on('connection', (socket) => {
    // A socket that is closed already has no address, and is forgotten when its close event comes.
    const accounts = accountsOf(socket.remoteAddress ?? 'unknown');
    const full = shares.take(accounts, 1);
    if (full === undefined) socket.once('close', () => shares.giveBack(accounts, 1));
    else {
      onRefused(full.name);
      socket.destroy();
    }
  });
}

/** Behind a proxy, a client holds requests under way, not connections. Beyond the limit they are refused, and the connection to the proxy is closed. */
export function limitProxiedRequests(
  server: FastifyInstance,
  { perSource }: Pick<ConnectionLimits, 'perSource'>,
  isProxy: (address: string) => boolean,
): void {
  const shares = createShares();
  server.addHook('onRequest', (request, reply, done) => {
    const client = request.ip;
    // A proxy that names no client asks for itself.
    if (!isProxy(request.socket.remoteAddress ?? '') || isProxy(client)) return done();
    const accounts: Account[] = [{ name: sourceOf(client), limit: perSource }];
    if (shares.take(accounts, 1)) {
      reply.header('connection', 'close');
      const message = `Too many requests from ${client} are in progress. Try again later.`;
      return done(overloaded(message));
    }
    reply.raw.once('close', () => shares.giveBack(accounts, 1));
    done();
  });
}
