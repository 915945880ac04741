import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { describe, expect, it } from 'vitest';
import { publicOnly } from './public-addresses.ts';

describe('the guarded resolution', () => {
  const mixed = [
    { address: '127.0.0.1', family: 4 },
    { address: '1.1.1.1', family: 4 },
    { address: 'fd00::1', family: 6 },
    { address: '2606:4700:4700::1111', family: 6 },
  ];

  it('leaves of mixed addresses only the public ones', async () => {
    expect(await resolve(mixed, { all: true })).toEqual([mixed[1], mixed[3]]);
  });

  it('gives one public address to who asks for one', async () => {
    expect(await resolve(mixed, { all: false })).toBe('1.1.1.1');
  });

  it('fails, naming the address, where none is public', async () => {
    await expect(resolve([{ address: '10.0.0.7', family: 4 }], { all: true })).rejects.toMatchObject({
      kind: 'address-refused',
      message: expect.stringContaining('provider.test (10.0.0.7) is not called: its address is private'),
    });
    await expect(resolve([], { all: true })).rejects.toMatchObject({ kind: 'address-refused' });
  });
});

async function resolve(found: LookupAddress[], options: { all: boolean }): Promise<string | LookupAddress[]> {
  const system: LookupFunction = (_name, _options, done) => done(null, found);
  return await new Promise((fulfil, reject) => {
    publicOnly(system)('provider.test', options, (error, address) =>
      error ? reject(error) : fulfil(address),
    );
  });
}
