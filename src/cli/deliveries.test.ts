import { userInfo } from 'node:os';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seedCatalog } from '../../tests/support/catalogs/seed-catalogs.ts';
import { useDatabase } from '../../tests/support/database/database.ts';
import { runCommand } from '../../tests/support/processes/command.ts';
import type { Database } from '../storage/database.ts';
import { queueCallback } from '../storage/work/callbacks.ts';
import { register as registerDeliveriesCommand } from './deliveries.ts';

describe('signpost deliveries', () => {
  let database: Database;
  useDatabase((opened) => {
    database = opened;
  });
  beforeAll(async () => {
    for (const id of ['c1', 'c2', 'c3']) await seedCatalog(database, { id, resources: [{ id: 'r1' }] });
  });
  beforeEach(async () => {
    await database.query('truncate work.callback, catalog.push restart identity');
    await database.query(
      `insert into catalog.push (subscriber, catalog_key, wanted_version, acknowledged_version, state, last_error, form)
       select 'ds.example.com/subscribers.beckn.one', key, 1, case id when 'c1' then 1 end,
         case id when 'c1' then 'acknowledged' when 'c2' then 'parked' else 'no endpoint' end,
         case id when 'c2' then 'the receiver answered 400' end, case id when 'c2' then 'strict' when 'c1' then 'full' end
       from catalog.catalog order by id`,
    );
    for (const [messageId, state] of Object.entries({ m1: 'delivered', m2: 'refused', m3: 'parked' })) {
      await database.transaction(async (tx) => {
        const id = await queueCallback(tx, {
          ...{
            role: 'catalog',
            action: 'catalog/on_publish',
            messageId,
            requestSignature: 's',
            recipient: 'bpp.example.com',
          },
          ...{ destination: 'https://bpp.example.com/catalog/on_publish', body: Buffer.from('{}') },
          giveUpAfterMs: 0,
        });
        await tx.query('update work.callback set state = $2, due_at = null where id = $1', [id, state]);
      });
    }
  });

  const deliveries = (...args: string[]) =>
    runCommand(registerDeliveriesCommand, ['deliveries', ...args], {
      DATABASE_URL: database.url,
      LOG_LEVEL: 'silent',
    });
  const idsOf = async (...args: string[]) =>
    (await deliveries('list', ...args)).out
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split(' ')[0]);

  it('lists callbacks and pushes with their state, what the receiver has, the form that was sent, and the last error', async () => {
    const { out } = await deliveries('list');
    expect(out).toMatch(/^ID +STATE +RECEIVER +WHAT +FORM +ATTEMPTS +FAILING SINCE +NEXT +LAST ERROR$/m);
    expect(out).toMatch(
      /^push-\d+ +acknowledged +ds\.example\.com\/subscribers\.beckn\.one +c1 \(version 1, acknowledged: 1\) +full/m,
    );
    expect(out).toMatch(
      /^push-\d+ +parked .* c2 \(version 1, acknowledged: none\) +strict +0 +- +- +the receiver answered 400$/m,
    );
    expect(out).toMatch(/^callback-2 +refused +https:\/\/bpp\.example\.com +catalog\/on_publish m2 +-/m);
  });

  it('lists what is parked, refused or without an endpoint, and the pushes of one subscriber', async () => {
    expect(await idsOf('--state', 'parked')).toEqual(['callback-3', 'callback-2', 'push-2', 'push-3']);
    expect(await idsOf('--state', 'delivered')).toEqual(['callback-1', 'push-1']);
    expect(await idsOf('--subscriber', 'ds.example.com')).toEqual(['push-2', 'push-3', 'push-1']);
    expect((await deliveries('list', '--subscriber', 'other.example.com')).out).toBe(
      'There is no such delivery.\n',
    );
    const { deliveries: listed } = JSON.parse((await deliveries('list', '--json', '--state', 'parked')).out);
    expect(listed).toHaveLength(4);
  });

  it('groups by receiver, those with trouble first', async () => {
    expect(await idsOf()).toEqual(['callback-3', 'callback-2', 'callback-1', 'push-2', 'push-3', 'push-1']);
    expect((await deliveries('list', '--limit', '5')).notes).toContain('There are more than 5');
  });

  it('shows one with its last requests and their answers, without what a terminal would obey', async () => {
    await database.query(
      `update catalog.push set history = '[{"at": "2026-01-01T00:00:00.000Z", "durationMs": 12, "url": "https://ds.example.com/catalog/push", "status": 400,
         "answer": "no \\u001b[31mroom", "request": "{\\"context\\":{}}"}]' where id = 2`,
    );
    const { out } = await deliveries('show', 'push-2');
    expect(out).toMatch(
      /2026-01-01T00:00:00\.000Z {2}400 {2}12 ms {2}https:\S+\n {2}answer: {2}no {2}?\[31mroom\n {2}request: \{"context":\{\}\}\n/,
    );
    expect(JSON.parse((await deliveries('show', 'push-2', '--json')).out).history).toHaveLength(1);
    expect((await deliveries('show', 'push-1')).out).toContain('No request of it has failed.');
    expect(await deliveries('show', 'push-9')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('There is no delivery push-9.'),
    });
  });

  it('replays one', async () => {
    expect((await deliveries('replay', 'push-2')).out).toBe('push-2 will be tried again.\n');
    expect((await deliveries('replay', 'callback-3')).out).toBe('callback-3 will be tried again.\n');
    expect(await idsOf('--state', 'open')).toEqual(['callback-3', 'push-2']);
    const again = await deliveries('replay', 'push-2');
    expect(again).toMatchObject({ exitCode: 1, notes: expect.stringContaining('push-2 is not parked') });
  });

  it('replays all', async () => {
    expect((await deliveries('replay', '--all')).out).toBe('To be retried: 2 callbacks, 2 pushes.\n');
    expect(await idsOf('--state', 'parked')).toEqual([]);
  });

  it('skips what is parked, and says where there is nothing to skip', async () => {
    expect((await deliveries('skip', 'callback-3')).out).toBe('Skipped callback-3.\n');
    expect((await deliveries('skip', 'push-2')).out).toBe('Skipped push-2.\n');
    expect(await idsOf('--state', 'parked')).toEqual(['callback-2', 'push-3']);
    expect(await deliveries('skip', 'push-2')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('push-2 neither waits nor is parked.'),
    });
  });

  it('writes what it does to the audit log, also where it is refused', async () => {
    await database.query('truncate console.audit');
    await deliveries('replay', 'push-2');
    await deliveries('replay', '--all');
    await deliveries('skip', 'push-2');
    await deliveries('skip', 'push-2');
    const { rows } = await database.query(
      'select actor, operator, action, target, outcome, address from console.audit order by id',
    );
    const by = { actor: 'cli', operator: userInfo().username, address: null };
    expect(rows).toEqual([
      { ...by, action: 'deliveries.replay', target: 'push-2', outcome: 'done' },
      { ...by, action: 'deliveries.replay', target: 'all receivers', outcome: 'done' },
      { ...by, action: 'deliveries.skip', target: 'push-2', outcome: 'done' },
      {
        ...by,
        action: 'deliveries.skip',
        target: 'push-2',
        outcome: expect.stringContaining('neither waits'),
      },
    ]);
  });

  it('wants to know what to replay, in words that it knows', async () => {
    expect(await deliveries('replay')).toMatchObject({ exitCode: 1 });
    expect(await deliveries('replay', 'push-2', '--all')).toMatchObject({ exitCode: 1 });
    expect((await deliveries('replay', '7')).notes).toContain('such as push-7');
    expect((await deliveries('list', '--state', 'lost')).notes).toContain(
      'Use one of parked, open, delivered.',
    );
  });
});
