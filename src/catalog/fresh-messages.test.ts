import { describe, expect, it } from 'vitest';
import type { PublishMessage } from '../protocol/publish-messages.ts';
import { createFreshMessages } from './fresh-messages.ts';

const message: PublishMessage = { catalogs: [] };
const mebibyte = 1024 * 1024;

describe('fresh messages', () => {
  it('are given out once', () => {
    const fresh = createFreshMessages();
    fresh.keep(1, { message, bytes: 10 });
    expect(fresh.take(1)?.message).toBe(message);
    expect(fresh.take(1)).toBeUndefined();
  });

  it('make room for new ones: the oldest go first, and their place is counted', () => {
    const fresh = createFreshMessages();
    for (const id of [1, 2, 3]) fresh.keep(id, { message, bytes: 12 * mebibyte });
    expect([1, 2, 3].map((id) => fresh.take(id)?.message)).toEqual([undefined, message, message]);
    for (const id of [4, 5]) fresh.keep(id, { message, bytes: 12 * mebibyte });
    expect([4, 5].map((id) => fresh.take(id)?.message)).toEqual([message, message]);
  });
});
