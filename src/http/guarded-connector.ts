import type { LookupFunction } from 'node:net';
import { specialRangeOf } from '../rules/addresses.ts';
import { findLiteralRefusal, publicOnly, refusal } from './public-addresses.ts';
import { buildConnector } from './undici.ts';

const connectTimeoutMs = 10_000;

/**
 * Opens connections only to public addresses. The check is made in the one resolution whose result the socket connects to
 * (public-addresses.ts), and once more on the socket itself. A pool on this connector therefore never holds an unchecked connection.
 */
export function guardedConnector(resolve: LookupFunction): buildConnector.connector {
  const connect = buildConnector({ lookup: publicOnly(resolve), timeout: connectTimeoutMs });
  return (options, callback) => {
    const refused = findLiteralRefusal(options.hostname);
    if (refused) return callback(refused, null);
    connect(options, (error, socket) => {
      if (error) return callback(error, null);
      const range = specialRangeOf(socket.remoteAddress ?? '');
      if (range === undefined) return callback(null, socket);
      socket.destroy();
      callback(refusal(options.hostname, socket.remoteAddress ?? 'no address', range), null);
    });
  };
}

/** The connector for addresses that the operator configured or allowed. */
export function openConnector(resolve: LookupFunction): buildConnector.connector {
  return buildConnector({ lookup: resolve, timeout: connectTimeoutMs });
}
