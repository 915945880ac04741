import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { AlreadyRemembered, type RequestKey } from '../../protocol/remembered.ts';
import type { Database } from '../database.ts';
import { closeRequest, findRemembered, rememberRequest } from './request-memory.ts';
import { deleteOld } from './retention.ts';

const now = new Date('2026-01-01T12:00:00Z');
const inFiveMinutes = new Date('2026-01-01T12:05:00Z');
const key: RequestKey = {
  role: 'catalog',
  identity: 'provider.example/subscribers.beckn.one',
  method: 'POST',
  url: '/catalog/publish',
  action: 'catalog/publish',
  messageId: 'message-1',
};
const same = { digest: 'BLAKE-512=abc', expires: inFiveMinutes };
const answer = { digest: 'BLAKE-512=abc', status: 200, body: '{"message":{"status":"ACK"}}' };

let database: Database;

useDatabase(
  (opened) => {
    database = opened;
  },
  { emptied: 'work.request cascade' },
);

describe('a remembered request', () => {
  it('is found with its answer and the digest of its body', async () => {
    await remember({ open: false });
    expect(await findRemembered(database, key, same)).toEqual(answer);
  });

  it.each(Object.keys(key))('is another one when its %s differs', async (member) => {
    await remember({ open: false });
    expect(await findRemembered(database, { ...key, [member]: 'other' }, same)).toBeUndefined();
  });

  it('may have an address longer than an index entry', async () => {
    const long = { ...key, url: `/catalog/subscription?${'x'.repeat(20_000)}` };
    await remember({ open: false }, long);
    expect(await findRemembered(database, long, same)).toEqual(answer);
  });

  it('is gone with the transaction that was to do its work', async () => {
    const failing = database.transaction(async (tx) => {
      await rememberRequest(tx, key, { ...answer, expires: inFiveMinutes, open: true });
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    expect(await findRemembered(database, key, same)).toBeUndefined();
  });

  it('undoes the work of all but one of its concurrent duplicates', async () => {
    await database.query('create table if not exists effect (number int)');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, number) =>
        database.transaction(async (tx) => {
          await tx.query('insert into effect values ($1)', [number]);
          await rememberRequest(tx, key, { ...answer, expires: inFiveMinutes, open: true });
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(AlreadyRemembered);
    }
    expect((await database.query('select from effect')).rowCount).toBe(1);
  });
});

describe('forgetting', () => {
  it('waits for the expiry of the signature, by the slowest clock of the service', async () => {
    await remember({ open: false });
    expect(await deleteOld(database, 'requests', now)).toBe(0);
    expect(await deleteOld(database, 'requests', new Date(inFiveMinutes.getTime() + 30_000))).toBe(0);
    expect(await deleteOld(database, 'requests', wellAfter(inFiveMinutes))).toBe(1);
    expect(await findRemembered(database, key, same)).toBeUndefined();
  });

  it('waits for the expiry of the last signature under which it came, and no longer for another body', async () => {
    const [later, latest] = [new Date('2026-01-01T12:10:00Z'), new Date('2026-01-01T12:20:00Z')];
    await remember({ open: false });
    await findRemembered(database, key, { ...same, expires: later });
    await findRemembered(database, key, same);
    await findRemembered(database, key, { digest: 'BLAKE-512=other', expires: latest });
    expect(await deleteOld(database, 'requests', wellAfter(inFiveMinutes))).toBe(0);
    expect(await deleteOld(database, 'requests', wellAfter(later))).toBe(1);
  });

  it('waits for the end of the work, however long ago the signature expired', async () => {
    const id = await remember({ open: true });
    const nextYear = new Date('2027-01-01T00:00:00Z');
    expect(await deleteOld(database, 'requests', nextYear)).toBe(0);
    await database.transaction((tx) => closeRequest(tx, id));
    expect(await deleteOld(database, 'requests', nextYear)).toBe(1);
  });
});

function wellAfter(time: Date): Date {
  return new Date(time.getTime() + 2 * 60_000);
}

function remember({ open }: { open: boolean }, under = key): Promise<number> {
  return database.transaction((tx) =>
    rememberRequest(tx, under, { ...answer, expires: inFiveMinutes, open }),
  );
}
