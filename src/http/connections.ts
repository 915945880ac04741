import type { Server } from 'node:http';
import { type Account, createShares } from './shares.ts';
import { sourceOf } from './source.ts';

/** How many connections may be open at once. */
export interface ConnectionLimits {
  /** Of everybody; and as many again of trusted proxies, behind each of which there may be everybody. */
  all: number;
  /** Of one source address that is no trusted proxy. */
  perSource: number;
}

/**
 * Closes connections beyond the limits as soon as they are accepted: nobody can hold so many that others find no place. `onRefused` is
 * told of each.
 */
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
