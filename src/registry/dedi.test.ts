import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type DediRecord,
  type DediRegistry,
  dediIdOf,
  startDediRegistry,
} from '../../tests/support/peers/dedi-registry.ts';
import { createGuardedClient, type GuardedClient } from '../http/guarded-client.ts';
import { createMetrics } from '../metrics.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { createRegistryClient, type RegistryClient, RegistryUnavailable } from './client.ts';

// The registry client with a registry that answers as DeDi servers do.

const signing_public_key = publicKeyOf(privateKeyFromSeed(generateSeed()));
const subscriber = 'bpp.example.com/subscribers.beckn.one';
const network = 'example.org/retail';

describe('the client of a DeDi registry', () => {
  let dedi: DediRegistry;
  let http: GuardedClient;
  let registry: RegistryClient;
  let clock: Date;
  let lines: { leftOut?: string[]; path?: string }[];

  beforeEach(async () => {
    clock = new Date('2026-02-01T00:00:00Z');
    lines = [];
    dedi = await startDediRegistry();
    http = createGuardedClient({ allowPrivateAddresses: false });
    registry = createRegistryClient({
      url: dedi.url,
      registryName: 'subscribers.beckn.one',
      client: http,
      logger: pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) }),
      metrics: createMetrics({ process: false }),
      now: () => clock,
    });
    dedi.records.set(subscriber, [recordOf('key-1', 'bpp.example.com')]);
  });
  afterEach(async () => {
    await http.close();
    await dedi.stop();
  });

  const members = (count: number): DediRecord[] =>
    Array.from({ length: count }, (_, index) => recordOf(`member-${index}`, `m${index}.example.com`));
  const listMembers = async () =>
    (await registry.queryNetwork(network)).map(({ subscriberId }) => subscriberId);
  const leftOut = () => lines.flatMap((line) => line.leftOut ?? []);

  it('finds a key by the name of its record, and by its id although only the name is looked up', async () => {
    for (const name of ['key-1', dediIdOf('key-1')])
      expect(await registry.findKey('bpp.example.com', name)).toMatchObject({
        kind: 'key',
        record: { recordId: name, subscriberId: 'bpp.example.com' },
      });
    dedi.withDetails = true;
    clock = new Date(clock.getTime() + 3_600_000);
    expect(await registry.findKey('bpp.example.com', dediIdOf('key-1'))).toMatchObject({ kind: 'key' });
    expect(await registry.findKey('bpp.example.com', 'key-2')).toEqual({ kind: 'unknown-key' });
  });

  it('takes no key from a list: what is listed under both names must be looked up under one of them', async () => {
    dedi.withDetails = true;
    dedi.failing.set('key-1', 404);
    expect(await registry.findKey('bpp.example.com', dediIdOf('key-1'))).toEqual({ kind: 'unknown-key' });
    dedi.failing.set('key-1', 500);
    clock = new Date(clock.getTime() + 60_000);
    await expect(registry.findKey('bpp.example.com', dediIdOf('key-1'))).rejects.toBeInstanceOf(
      RegistryUnavailable,
    );
  });

  it('knows a subscriber of whom it has only a summary that it does not look up, but no key of theirs', async () => {
    dedi.failing.set('key-1', 404);
    expect(await registry.findKey('bpp.example.com', 'key-1')).toEqual({ kind: 'unknown-key' });
    expect(await registry.findSubscriber('bpp.example.com')).toEqual([]);
    expect(await registry.findKey('nobody.example.com', 'key-1')).toEqual({ kind: 'unknown-subscriber' });
  });

  it('looks up each record that a query only sums up, on every page', async () => {
    dedi.records.set(network, members(5));
    expect(await listMembers()).toEqual([0, 1, 2, 3, 4].map((index) => `m${index}.example.com`));
    expect(dedi.asked.filter((path) => path.startsWith('/dedi/query'))).toHaveLength(3);
    expect(dedi.asked.filter((path) => path.startsWith('/dedi/lookup'))).toHaveLength(5);
    expect(leftOut()).toEqual([]);
  });

  it('looks nothing up where the query has the details', async () => {
    dedi.withDetails = true;
    dedi.records.set(network, members(3));
    expect(await listMembers()).toHaveLength(3);
    expect(dedi.asked.some((path) => path.startsWith('/dedi/lookup'))).toBe(false);
  });

  it('logs once what it leaves out, and again when that changes', async () => {
    dedi.records.set(network, [...members(2), { name: 'no-details' }, recordOf('a name', 'x.example.com')]);
    dedi.failing.set('member-1', 404);
    for (const _ of [1, 2]) expect(await listMembers()).toEqual(['m0.example.com']);
    expect(leftOut()).toEqual(['3 of which it has only summaries, and which it does not look up']);
    expect(lines[0]).toMatchObject({ path: '/query/example.org/retail' });
    dedi.failing.clear();
    expect(await listMembers()).toEqual(['m0.example.com', 'm1.example.com']);
    expect(leftOut()).toHaveLength(2);
  });

  it('reads a bounded number of pages and of summaries, and logs that there is more', async () => {
    dedi.pageSize = 1;
    dedi.records.set(network, members(1_010));
    dedi.withDetails = true;
    expect(await listMembers()).toHaveLength(1_000);
    expect(leftOut()).toEqual(['those on 10 further pages']);

    dedi.withDetails = false;
    dedi.pageSize = 100;
    dedi.records.set(subscriber, members(60));
    expect(await registry.findSubscriber(subscriber)).toHaveLength(50);
    expect(leftOut().at(-1)).toBe('10 of which it has only summaries, beyond the limit of lookups');
  });

  it('reads pages of any number of records, and after very many asks for no further page', async () => {
    dedi.pageSize = 130_000;
    dedi.records.set(
      network,
      Array.from({ length: 260_001 }, (_, index) => ({ name: `${index}` })),
    );
    dedi.sparse = true;
    expect(await listMembers()).toEqual([]);
    expect(dedi.asked.filter((path) => path.startsWith('/dedi/query'))).toHaveLength(2);
    expect(leftOut()[0]).toBe('those from page 3 on');
  });

  it('does not let a record that cannot be queried for vanish from its network', async () => {
    dedi.records.set(network, members(3));
    dedi.failing.set('member-1', 503);
    await expect(registry.queryNetwork(network)).rejects.toBeInstanceOf(RegistryUnavailable);
  });

  it.each(['inactive', 'suspended', 'revoked'])('uses no key of a registry in state %s', async (state) => {
    dedi.records.set(network, members(1));
    dedi.state = state;
    expect(await registry.findKey('bpp.example.com', 'key-1')).toEqual({
      kind: 'unusable',
      reason: `its registry is in state ${state}`,
    });
    expect(await registry.findSubscriber('bpp.example.com')).toEqual([]);
    expect(await registry.queryNetwork(network)).toEqual([]);
    dedi.withDetails = true;
    expect(await registry.queryNetwork(network)).toEqual([]);
  });

  it('uses no key of a record that is inactive', async () => {
    dedi.records.set(subscriber, [{ ...recordOf('key-1', 'bpp.example.com'), state: 'inactive' }]);
    expect(await registry.findKey('bpp.example.com', 'key-1')).toMatchObject({ kind: 'unusable' });
    expect(await registry.findSubscriber('bpp.example.com')).toEqual([]);
    expect(await registry.listRecords('bpp.example.com')).toHaveLength(1);
  });
});

function recordOf(name: string, subscriberId: string): DediRecord {
  const details = {
    subscriber_id: subscriberId,
    url: `https://${subscriberId}`,
    type: 'BPP',
    signing_public_key,
  };
  return { name, details };
}
