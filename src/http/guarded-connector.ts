import type { LookupFunction } from 'node:net';
import { literalAddress, specialRangeOf } from '../rules/addresses.ts';
import { FetchFailure } from './fetch-failure.ts';
import { buildConnector } from './undici.ts';

const connectTimeoutMs = 10_000;

/**
 * Opens connections only to public addresses. The check sits where the address is known for certain: in the one
 * resolution whose result the socket connects to, so that a name cannot resolve to something else between the check and the
 * connection; and once more on the socket itself. A pool on this connector therefore never holds an unchecked connection.
 */
export function guardedConnector(resolve: LookupFunction): buildConnector.connector {
  const connect = buildConnector({ lookup: publicOnly(resolve), timeout: connectTimeoutMs });
  return (options, callback) => {
    const literal = literalAddress(options.hostname);
    if (literal !== undefined) {
      const range = specialRangeOf(literal);
      if (range !== undefined) return callback(refusal(options.hostname, literal, range), null);
    }
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

export function refusal(host: string, address: string, range: string): FetchFailure {
  const what = host === address ? host : `${host} (${address})`;
  return new FetchFailure(
    'address-refused',
    `${what} is not called: its address is ${range}, not public. Development networks set ALLOW_PRIVATE_ADDRESSES.`,
  );
}

/** A name with public and special addresses is connected to at its public ones only. */
export function publicOnly(resolve: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const addresses = Array.isArray(found)
        ? found
        : [{ address: found, family: found.includes(':') ? 6 : 4 }];
      const allowed = addresses.filter(({ address }) => specialRangeOf(address) === undefined);
      const [first] = allowed;
      if (first === undefined) {
        const address = addresses[0]?.address ?? 'no address';
        return callback(refusal(hostname, address, specialRangeOf(address) ?? 'unknown'), []);
      }
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
