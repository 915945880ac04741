import { expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database/database.ts';
import { silentLogger } from '../logger.ts';
import type { Database } from '../storage/database.ts';
import { deleteOld } from '../storage/work/retention.ts';
import { createReceiverForms, rememberFormMs } from './receiver-forms.ts';

let database: Database;
const logger = silentLogger();
const noon = Date.parse('2026-03-01T12:00:00Z');

useDatabase((opened) => {
  database = opened;
});

it.each(['plain', 'strict'] as const)(
  'The form %s that a receiver takes is remembered for a day, in every process, and then the usual one is tried again',
  async (form) => {
    let at = noon;
    const open = () => createReceiverForms(database, { logger, now: () => new Date(at) });
    const [here, elsewhere] = [open(), open()];
    const receiver = `${form}.example/subscribers`;
    const isSent = async (forms: typeof here, to = receiver) => (await forms.find(to)).has(form);
    expect(await isSent(elsewhere)).toBe(false);
    await here.remember(receiver, form);
    expect(await isSent(here)).toBe(true);
    expect(await isSent(open())).toBe(true);
    expect(await isSent(open(), 'another.example/subscribers')).toBe(false);
    at = noon + 61_000;
    expect(await isSent(elsewhere)).toBe(true);
    at = noon + rememberFormMs - 1;
    expect(await isSent(here)).toBe(true);
    at = noon + rememberFormMs + 60_000;
    expect(await isSent(here)).toBe(false);
    expect(await deleteOld(database, 'receiverForms', new Date(at))).toBe(1);
  },
);

it('A receiver that accepts the chain again is sent the chain first by every process, and still strict form', async () => {
  const open = () => createReceiverForms(database, { logger, now: () => new Date(noon) });
  const here = open();
  const receiver = 'upgraded.example/subscribers';
  await here.remember(receiver, 'plain');
  await here.remember(receiver, 'strict');
  expect(await here.find(receiver)).toEqual(new Set(['plain', 'strict']));
  await here.forget(receiver, 'plain');
  expect(await here.find(receiver)).toEqual(new Set(['strict']));
  expect(await open().find(receiver)).toEqual(new Set(['strict']));
});
