import { beforeEach, describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { countRowsRead } from '../../../tests/support/database/rows-read.ts';
import type { Database, Queryable } from '../database.ts';
import {
  addKey,
  addMembership,
  type Registration,
  registerParticipant,
  removeMembership,
  setCatalogIndexUrls,
  setKeyState,
} from './participants.ts';
import { findKeyRecord, listKeyRecords, listParticipants, listVersions } from './records.ts';

const bpp = { namespace: 'bpp.example.com', registryName: 'subscribers.beckn.one' };
const firstPage = { limit: 100, offset: 0 };

describe('the participants of the registry', () => {
  let database: Database;
  useDatabase((opened) => {
    database = opened;
  });
  beforeEach(async () => {
    await database.query('delete from registry.participant');
  });

  it('are registered with a key, a network and an address', async () => {
    await registerParticipant(database, registration({ networkIds: ['example.org/retail'] }));
    expect(await findKeyRecord(database, bpp, 'key-1')).toMatchObject({
      subscriberId: 'bpp.example.com',
      url: 'https://bpp.example.com',
      publicKey: 'public key 1',
      state: 'live',
      ttlSeconds: 300,
      networkMemberships: ['example.org/retail'],
      catalogIndexUrls: [],
    });
  });

  it('may be registered again: what is given changes, the rest stays', async () => {
    await registerParticipant(database, registration({ type: 'BPP', networkIds: ['example.org/a'] }));
    await registerParticipant(
      database,
      registration({ url: 'https://new.example.com', networkIds: ['example.org/b'] }),
    );
    expect(await listParticipants(database)).toMatchObject([
      { url: 'https://new.example.com', type: 'BPP', networkMemberships: ['example.org/a', 'example.org/b'] },
    ]);
  });

  it('are listed, alone or as members of a network, without reading the keys of all others', async () => {
    await database.query(
      `insert into registry.participant (namespace, registry_name, subscriber_id) select 'p' || n, 'r', 'p' || n from generate_series(1, 2000) as n`,
    );
    await database.query(
      `insert into registry.signing_key (namespace, registry_name, record_id, public_key, state, ttl_seconds)
       select namespace, registry_name, 'key-1', '', 'live', 300 from registry.participant`,
    );
    await registerParticipant(database, registration({ networkIds: ['example.org/retail'] }));
    await database.query('analyze registry.participant, registry.signing_key, registry.record_version');
    for (const [namespace, registryName] of [
      [bpp.namespace, bpp.registryName],
      ['example.org', 'retail'],
    ] as const) {
      const list = (queryable: Queryable) =>
        listKeyRecords(queryable, { namespace, registryName }, firstPage, {
          now: new Date(),
          filter: { order: 'name' },
        });
      expect(await list(database)).toMatchObject({ records: [{ subscriberId: bpp.namespace }], total: 1 });
      expect(await countRowsRead(database, list)).toBeLessThan(100);
    }
  });

  it('may be registered by two processes at the same moment', async () => {
    await Promise.all([1, 2, 3, 4].map(() => registerParticipant(database, registration())));
    expect(await listParticipants(database)).toHaveLength(1);
  });

  it('do not lose a key to another one by a slip, but may replace it', async () => {
    await registerParticipant(database, registration());
    const other = registration({ key: { recordId: 'key-1', publicKey: 'public key 2' } });
    await expect(registerParticipant(database, other)).rejects.toMatchObject({ code: 'key-taken' });
    await registerParticipant(database, { ...other, replaceKey: true });
    expect(await findKeyRecord(database, bpp, 'key-1')).toMatchObject({
      publicKey: 'public key 2',
      state: 'live',
    });
  });

  it('keep a revoked key revoked, whatever is asked for', async () => {
    await registerParticipant(database, registration());
    expect(await setKeyState(database, bpp, 'revoked', 'key-1')).toEqual(['key-1']);
    await expect(setKeyState(database, bpp, 'live', 'key-1')).rejects.toMatchObject({ code: 'key-revoked' });
    await expect(registerParticipant(database, registration())).rejects.toMatchObject({
      code: 'key-revoked',
    });
    await registerParticipant(database, registration({ replaceKey: true }));
    expect(await setKeyState(database, bpp, 'live')).toEqual([]);
    expect(await findKeyRecord(database, bpp, 'key-1')).toMatchObject({ state: 'revoked' });
  });

  it('rotate keys: add one, revoke the other', async () => {
    await registerParticipant(database, registration());
    await addKey(database, bpp, { recordId: 'key-2', publicKey: 'public key 2' });
    await setKeyState(database, bpp, 'revoked', 'key-1');
    const states = (await listParticipants(database, bpp)).map(({ recordId, state }) => [recordId, state]);
    expect(Object.fromEntries(states)).toEqual({ 'key-1': 'revoked', 'key-2': 'live' });
  });

  it('say of every change in their records when it happened', async () => {
    await registerParticipant(database, registration());
    const before = await findKeyRecord(database, bpp, 'key-1');
    await setCatalogIndexUrls(database, bpp, ['https://bpp.example.com/index/catalogs.index.json']);
    const after = await findKeyRecord(database, bpp, 'key-1');
    expect(after?.catalogIndexUrls).toEqual(['https://bpp.example.com/index/catalogs.index.json']);
    expect(after?.updatedAt.getTime()).toBeGreaterThan(before?.updatedAt.getTime() ?? 0);
    expect(after?.createdAt).toEqual(before?.createdAt);
  });

  it('keep every version of a record, one for each transaction that changes it and none for one that does not', async () => {
    await registerParticipant(database, registration({ networkIds: ['example.org/a'] }));
    await registerParticipant(database, registration({ networkIds: ['example.org/a'] }));
    expect(await versions()).toEqual([1]);
    await registerParticipant(
      database,
      registration({ url: 'https://new.example.com', networkIds: ['example.org/b'] }),
    );
    await addKey(database, bpp, { recordId: 'key-2', publicKey: 'public key 2' });
    await setKeyState(database, bpp, 'revoked', 'key-2');
    expect(await versions()).toEqual([2, 1]);
    expect(await versions('key-2')).toEqual([2, 1]);
    expect(await findKeyRecord(database, bpp, 'key-1', { version: 1 })).toMatchObject({
      ...{ url: 'https://bpp.example.com', networkMemberships: ['example.org/a'] },
    });
    expect(await findKeyRecord(database, bpp, 'key-2', { version: 1 })).toMatchObject({ state: 'live' });
  });

  it('keep the version of a key that was replaced', async () => {
    await registerParticipant(database, registration());
    const other = registration({ key: { recordId: 'key-1', publicKey: 'public key 2' }, replaceKey: true });
    await registerParticipant(database, other);
    expect(await versions()).toEqual([2, 1]);
    expect(await findKeyRecord(database, bpp, 'key-1', { version: 1 })).toMatchObject({
      publicKey: 'public key 1',
    });
  });

  it('keep no version of a change that was rolled back', async () => {
    await registerParticipant(database, registration());
    const failing = database.transaction(async (tx) => {
      await tx.query("update registry.participant set url = 'https://never.example.com'");
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await versions()).toEqual([1]);
  });

  it('changed by many at the same moment have versions without gaps, the last with all changes', async () => {
    await registerParticipant(database, registration());
    await addKey(database, bpp, { recordId: 'key-2', publicKey: 'public key 2' });
    const networks = Array.from({ length: 8 }, (_, index) => `example.org/n${index}`);
    await Promise.all([
      ...networks.map((networkId) => addMembership(database, bpp, networkId)),
      setKeyState(database, bpp, 'suspended', 'key-1'),
      setKeyState(database, bpp, 'revoked', 'key-2'),
      registerParticipant(database, registration({ type: 'BPP' })),
      setCatalogIndexUrls(database, bpp, ['https://bpp.example.com/index/catalogs.index.json']),
    ]);
    const kept = await versions();
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => kept.length - index));
    const last = await findKeyRecord(database, bpp, 'key-1', { version: kept[0] ?? 0 });
    expect(last).toEqual(await findKeyRecord(database, bpp, 'key-1'));
    expect(last).toMatchObject({ state: 'suspended', type: 'BPP', networkMemberships: networks });
  });

  it('are listed under their own name and under the name of each network, page by page', async () => {
    for (const namespace of ['a.example', 'b.example', 'c.example']) {
      const key = { recordId: 'key-1', publicKey: namespace };
      await registerParticipant(database, registration({ namespace, subscriberId: namespace, key }));
      await addMembership(database, { ...bpp, namespace }, 'example.org/retail');
    }
    await removeMembership(database, { ...bpp, namespace: 'b.example' }, 'example.org/retail');
    const network = { namespace: 'example.org', registryName: 'retail' };
    expect(await names(network, firstPage)).toEqual({ subscribers: ['a.example', 'c.example'], total: 2 });
    expect(await names(network, { limit: 1, offset: 1 })).toEqual({ subscribers: ['c.example'], total: 2 });
    expect(await names({ ...bpp, namespace: 'b.example' }, firstPage)).toEqual({
      subscribers: ['b.example'],
      total: 1,
    });
    expect(await names({ ...bpp, namespace: 'nobody.example' }, firstPage)).toEqual({
      subscribers: [],
      total: 0,
    });
  });

  it('who are not registered cannot be changed', async () => {
    const refused = { code: 'unknown-subscriber' };
    await expect(setKeyState(database, bpp, 'revoked')).rejects.toMatchObject(refused);
    await expect(addKey(database, bpp, { recordId: 'k', publicKey: 'p' })).rejects.toMatchObject(refused);
    await expect(addMembership(database, bpp, 'example.org/retail')).rejects.toMatchObject(refused);
    await expect(setCatalogIndexUrls(database, bpp, [])).rejects.toMatchObject(refused);
    await registerParticipant(database, registration());
    await expect(setKeyState(database, bpp, 'revoked', 'key-9')).rejects.toMatchObject({
      code: 'unknown-key',
    });
  });

  it('may have names that read like SQL, and be asked for by them, without any effect on the statement', async () => {
    const recordId = "'; drop table registry.participant; --";
    await registerParticipant(database, registration());
    await addKey(database, bpp, { recordId, publicKey: "') or true --" });
    expect(await findKeyRecord(database, bpp, recordId)).toMatchObject({ publicKey: "') or true --" });
    expect(await findKeyRecord(database, bpp, "key-2' or '1' = '1")).toBeUndefined();
    const filter = { order: 'name', name: "' or true --" } as const;
    const { total } = await listKeyRecords(database, bpp, firstPage, { now: new Date(), filter });
    expect(total).toBe(0);
    expect(await listParticipants(database)).toHaveLength(2);
  });

  async function versions(recordId = 'key-1'): Promise<number[]> {
    return listVersions(database, bpp, recordId, firstPage);
  }

  async function names(subscriber: { namespace: string; registryName: string }, page: typeof firstPage) {
    const { records, total } = await listKeyRecords(database, subscriber, page, {
      ...{ now: new Date(), filter: { order: 'name' } },
    });
    return { subscribers: records.map((record) => record.subscriberId), total };
  }
});

function registration(overrides: Partial<Registration> = {}): Registration {
  return {
    ...bpp,
    subscriberId: 'bpp.example.com',
    url: 'https://bpp.example.com',
    key: { recordId: 'key-1', publicKey: 'public key 1' },
    ...overrides,
  };
}
