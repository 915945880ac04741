import { expect, it } from 'vitest';
import type { InboxItem } from './answers/debug.ts';
import { dropSurplus } from './inbox.ts';

const item = (verifies: boolean, body = ''): InboxItem => ({
  ...{ id: 'i', at: '2026-01-01T00:00:00Z', path: '/inbox/x', headers: {} },
  ...{ verifies, body },
});
const some = (length: number, verifies: boolean, body?: string) =>
  Array.from({ length }, () => item(verifies, body));
const countKept = (items: InboxItem[]) => {
  const kept = dropSurplus(items);
  const verified = kept.filter(({ verifies }) => verifies).length;
  return [verified, kept.length - verified];
};

it('keeps the latest 150 verified and the latest 50 unverified messages of the inbox, apart from each other', () => {
  expect(countKept([...some(200, false), ...some(200, true)])).toEqual([150, 50]);
  expect(countKept([...some(200, true), ...some(10, false)])).toEqual([150, 10]);
});

it('keeps verified messages of the inbox up to 64 MiB of memory', () => {
  expect(countKept(some(40, true, 'x'.repeat(1024 * 1024)))).toEqual([32, 0]);
});
