import { expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database.ts';
import { silentLogger } from '../logger.ts';
import type { Database } from '../storage/database.ts';
import { purgePlainReceivers } from '../storage/work/callback-forms.ts';
import { createCallbackForms, rememberFormMs } from './callback-forms.ts';

let database: Database;
const logger = silentLogger();
const noon = Date.parse('2026-03-01T12:00:00Z');

useDatabase((opened) => {
  database = opened;
});

it('The form that a receiver takes is remembered for a day, in every process, and then the chain is tried again', async () => {
  let at = noon;
  const open = () => createCallbackForms(database, { logger, now: () => new Date(at) });
  const [here, elsewhere] = [open(), open()];
  const receiver = 'https://three-lines.example';
  expect(await elsewhere.find(receiver)).toBe('chained');
  await here.learn(receiver, 'plain');
  expect(await here.find(receiver)).toBe('plain');
  expect(await open().find(receiver)).toBe('plain');
  expect(await open().find('https://another.example')).toBe('chained');
  at = noon + 61_000;
  expect(await elsewhere.find(receiver)).toBe('plain');
  at = noon + rememberFormMs - 1;
  expect(await here.find(receiver)).toBe('plain');
  at = noon + rememberFormMs + 60_000;
  expect(await here.find(receiver)).toBe('chained');
  expect(await purgePlainReceivers(database, new Date(at))).toBe(1);
});

it('A receiver that takes the chain again is sent the chain first by every process', async () => {
  const open = () => createCallbackForms(database, { logger, now: () => new Date(noon) });
  const here = open();
  const receiver = 'https://upgraded.example';
  await here.learn(receiver, 'plain');
  await here.learn(receiver, 'chained');
  expect(await here.find(receiver)).toBe('chained');
  expect(await open().find(receiver)).toBe('chained');
});
