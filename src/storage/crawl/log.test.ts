import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { listLoggedIssues } from '../console/subjects.ts';
import type { Database } from '../database.ts';
import { type LogLine, readLog, writeLog } from './log.ts';

let database: Database;
useDatabase(
  (opened) => {
    database = opened;
  },
  { emptied: 'discovery.crawl_log' },
);

const at = (seconds: number) => new Date(Date.UTC(2031, 0, 1, 0, 0, seconds));
const line = (message: string, changes: Partial<LogLine> = {}): LogLine => ({
  ...{ node: 'node', code: 'malformed', message, hint: 'Do it well.' },
  ...changes,
});

it('the same line again counts, and moves to the end', async () => {
  await writeLog(database, [line('one'), line('two'), line('one')], at(0));
  await writeLog(database, [line('one')], at(1));
  const { lines, total } = await readLog(database, { node: 'node', limit: 10, offset: 0 });
  expect(total).toBe(2);
  expect(lines).toMatchObject([
    { message: 'one', times: 3, firstAt: at(0), at: at(1) },
    { message: 'two', times: 1, at: at(0) },
  ]);
});

it('keeps the latest ten thousand lines of a node, and all of the others', async () => {
  await writeLog(database, [line('of another', { node: 'other' })], at(0));
  const many = (from: number) => Array.from({ length: 6_000 }, (_, index) => line(`fault ${from + index}`));
  await writeLog(database, many(0), at(1));
  await writeLog(database, many(6_000), at(2));
  const { lines, total } = await readLog(database, { node: 'node', limit: 1, offset: 0 });
  expect(total).toBe(10_000);
  expect(lines).toMatchObject([{ at: at(2) }]);
  expect((await readLog(database, { node: 'other', limit: 1, offset: 0 })).total).toBe(1);
});

it('keeps the beginning of a text that is very long, and no half of a character', async () => {
  const catalogId = `${'x'.repeat(999)}😀${'y'.repeat(1e6)}`;
  await writeLog(database, [line('short', { catalogId })], at(0));
  const { lines } = await readLog(database, { node: 'node', limit: 1, offset: 0 });
  expect(lines).toMatchObject([{ catalogId: `${'x'.repeat(999)}…`, message: 'short' }]);
});

it('is summed up with the latest first, and a gap after its cause, whichever was written first', async () => {
  const gap = line('the way ends at 1', { code: 'gap' });
  await writeLog(database, [line('before')], at(0));
  await writeLog(database, [gap], at(1));
  await writeLog(database, [line('other bytes', { code: 'signature-invalid' })], at(1));
  await writeLog(database, [{ ...gap, message: 'the way ends at 2' }], at(1));
  const issues = await listLoggedIssues(database, { node: 'node', limit: 10 });
  expect(issues.map(({ code }) => code)).toEqual(['signature-invalid', 'gap', 'gap', 'malformed']);
});
