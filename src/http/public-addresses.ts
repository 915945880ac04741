import type { LookupFunction } from 'node:net';
import { literalAddress, specialRangeOf } from '../rules/addresses.ts';
import { FetchFailure } from './fetch-failure.ts';

// Calls only public addresses (protocol decision: addresses). A name is checked in the resolution that the socket uses.

/** Why a host that is a literal address is not called; undefined for a public one, and for a name. */
export function findLiteralRefusal(hostname: string, setting?: string): FetchFailure | undefined {
  const literal = literalAddress(hostname);
  const range = literal === undefined ? undefined : specialRangeOf(literal);
  return literal === undefined || range === undefined
    ? undefined
    : refusal(hostname, literal, range, setting);
}

/** For a name with public and special addresses, only the public ones are used. */
export function publicOnly(resolve: LookupFunction, setting?: string): LookupFunction {
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
        return callback(refusal(hostname, address, specialRangeOf(address) ?? 'unknown', setting), []);
      }
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

export function refusal(host: string, address: string, range: string, setting = 'ALLOW_PRIVATE_ADDRESSES') {
  const what = host === address ? host : `${host} (${address})`;
  const says = `${what} is not called: its address is ${range}, not public. Development networks set ${setting}.`;
  return new FetchFailure('address-refused', says);
}
