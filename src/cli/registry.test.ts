import { beforeEach, describe, expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database/database.ts';
import { runCommand } from '../../tests/support/processes/command.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import type { Database } from '../storage/database.ts';
import { findKeyRecord } from '../storage/registry/records.ts';
import { register as registerRegistryCommand } from './registry.ts';

const publicKey = publicKeyOf(privateKeyFromSeed(generateSeed()));
const otherKey = publicKeyOf(privateKeyFromSeed(generateSeed()));
const bpp = { namespace: 'bpp.example.com', registryName: 'subscribers.beckn.one' };
const registerBpp = ['register', 'bpp.example.com', '--public-key', publicKey];

describe('signpost registry', () => {
  let database: Database;
  useDatabase((opened) => {
    database = opened;
  });
  beforeEach(async () => {
    await database.query('delete from registry.participant');
  });

  const registry = (...args: string[]) =>
    runCommand(registerRegistryCommand, ['registry', ...args], {
      DATABASE_URL: database.url,
      LOG_LEVEL: 'silent',
    });

  it('registers a participant with everything that a record holds', async () => {
    const { exitCode, out } = await registry(
      ...registerBpp,
      ...[
        '--url',
        'https://bpp.example.com',
        '--type',
        'BPP',
        '--domain',
        'ev',
        '--country',
        'IND',
        '--country',
        'NPL',
        '--key-id',
        'key-7',
        '--ttl',
        '60',
      ],
      ...['--network', 'example.org/retail', '--network', 'example.org/energy'],
      ...['--valid-from', '2026-01-01T00:00:00Z', '--valid-until', '2027-01-01T00:00:00Z'],
    );
    expect({ exitCode, out }).toEqual({
      exitCode: 0,
      out: 'Registered bpp.example.com/subscribers.beckn.one with key key-7.\n',
    });
    expect(await findKeyRecord(database, bpp, 'key-7')).toMatchObject({
      subscriberId: 'bpp.example.com',
      url: 'https://bpp.example.com',
      type: 'BPP',
      domain: 'ev',
      countries: ['IND', 'NPL'],
      publicKey,
      state: 'live',
      ttlSeconds: 60,
      validFrom: new Date('2026-01-01T00:00:00Z'),
      validUntil: new Date('2027-01-01T00:00:00Z'),
      networkMemberships: ['example.org/energy', 'example.org/retail'],
    });
  });

  it('names a participant of another registry by both halves', async () => {
    await registry('register', 'example.com/other', '--public-key', publicKey);
    const record = await findKeyRecord(
      database,
      { namespace: 'example.com', registryName: 'other' },
      'key-1',
    );
    expect(record?.subscriberId).toBe('example.com/other');
  });

  it('lists and shows participants', async () => {
    expect((await registry('list')).out).toBe('No participant is registered.\n');
    await registry(...registerBpp, '--type', 'BPP', '--network', 'example.org/retail');
    await registry('register', 'ds.example.com', '--public-key', otherKey);
    expect((await registry('list')).out).toMatch(
      /SUBSCRIBER.*\nbpp\.example\.com .*live.*\nds\.example\.com /,
    );
    expect((await registry('list', '--network', 'example.org/retail')).out).not.toContain('ds.example.com');
    expect(JSON.parse((await registry('list', '--json')).out)).toHaveLength(2);
    expect((await registry('show', 'bpp.example.com')).out).toContain(publicKey);
  });

  it('rotates a key: adds one, then revokes the other, for ever', async () => {
    await registry(...registerBpp);
    await registry('key', 'add', 'bpp.example.com', '--key-id', 'key-2', '--public-key', otherKey);
    const revoked = await registry('revoke', 'bpp.example.com', '--key-id', 'key-1');
    expect(revoked.out).toContain('key-1 of bpp.example.com/subscribers.beckn.one: now revoked.');
    expect(await findKeyRecord(database, bpp, 'key-1')).toMatchObject({ state: 'revoked' });
    expect(await findKeyRecord(database, bpp, 'key-2')).toMatchObject({ state: 'live' });
    expect(await registry('state', 'bpp.example.com', 'live', '--key-id', 'key-1')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('permanently'),
    });
  });

  it('revokes all keys of a participant when none is named', async () => {
    await registry(...registerBpp);
    await registry('key', 'add', 'bpp.example.com', '--key-id', 'key-2', '--public-key', otherKey);
    expect((await registry('revoke', 'bpp.example.com')).out).toContain('key-1, key-2');
    expect((await registry('revoke', 'bpp.example.com')).out).toBe('Nothing to change.\n');
  });

  it('suspends and brings back', async () => {
    await registry(...registerBpp);
    await registry('state', 'bpp.example.com', 'suspended');
    expect(await findKeyRecord(database, bpp, 'key-1')).toMatchObject({ state: 'suspended' });
    await registry('state', 'bpp.example.com', 'live');
    expect(await findKeyRecord(database, bpp, 'key-1')).toMatchObject({ state: 'live' });
  });

  it('adds and removes memberships, and sets the catalog indexes', async () => {
    await registry(...registerBpp);
    await registry('membership', 'add', 'bpp.example.com', 'example.org/retail');
    await registry('membership', 'add', 'bpp.example.com', 'example.org/energy');
    expect((await registry('membership', 'remove', 'bpp.example.com', 'example.org/retail')).out).toContain(
      'no longer',
    );
    await registry(
      'catalog-index',
      'bpp.example.com',
      'https://bpp.example.com/a.json',
      'https://bpp.example.com/b.json',
    );
    expect(await findKeyRecord(database, bpp, 'key-1')).toMatchObject({
      networkMemberships: ['example.org/energy'],
      catalogIndexUrls: ['https://bpp.example.com/a.json', 'https://bpp.example.com/b.json'],
    });
  });

  it.each([
    [['register', 'bpp.example.com'], '--public-key'],
    [['register', 'bpp.example.com', '--public-key', 'short'], 'Ed25519'],
    [['register', 'bpp.example.com', '--public-key', `${'A'.repeat(43)}=`], 'point of small order'],
    [['key', 'add', 'bpp.example.com', '--public-key', `AQ${'A'.repeat(41)}=`], 'point of small order'],
    [['register', 'no/such/name', '--public-key', publicKey], 'namespace/registry'],
    [[...registerBpp, '--url', 'bpp.example.com'], 'http'],
    [[...registerBpp, '--network', 'retail'], 'namespace/registry'],
    [[...registerBpp, '--valid-until', 'tomorrow'], 'ISO 8601'],
    [['show', 'nobody.example.com'], 'signpost registry register nobody.example.com'],
    [['revoke', 'nobody.example.com', '--key-id', 'key-1'], 'signpost registry show nobody.example.com'],
    [['catalog-index', 'nobody.example.com', 'https://x.example'], 'signpost registry register'],
    [['catalog-index', 'bpp.example.com', 'x.example'], 'not an http or https address'],
  ])('says what to do instead of %j', async (args, advice) => {
    expect(await registry(...args)).toMatchObject({ exitCode: 1, notes: expect.stringContaining(advice) });
  });

  it('does not take a key id for another key, unless told to', async () => {
    await registry(...registerBpp);
    const again = ['register', 'bpp.example.com', '--public-key', otherKey];
    expect(await registry(...again)).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('--replace'),
    });
    expect(await registry(...again, '--replace')).toMatchObject({ exitCode: 0 });
  });

  it('says so when the database cannot be reached', async () => {
    const run = await runCommand(registerRegistryCommand, ['registry', 'list'], {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    });
    expect(run).toMatchObject({ exitCode: 1, notes: expect.stringContaining('Cannot connect') });
  });
});
