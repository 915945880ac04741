import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRoom, type Room } from './room.ts';

const signal = new AbortController().signal;

/** Requests bytes for a new share, and shows whether it got them. */
function taking(room: Room, bytes: number, stop = signal) {
  const share = room();
  const state = { share, has: false, failed: undefined as unknown };
  share.take(bytes, stop).then(
    () => {
      state.has = true;
    },
    (error) => {
      state.failed = error;
    },
  );
  return state;
}

describe('room', () => {
  it('is had at once as long as there is some, and otherwise in the order of asking', async () => {
    const room = createRoom(100);
    const [first, large, small] = [taking(room, 60), taking(room, 50), taking(room, 10)];
    await setImmediate();
    expect([first.has, large.has, small.has]).toEqual([true, false, false]);
    first.share.close();
    await setImmediate();
    expect([large.has, small.has]).toEqual([true, true]);
  });

  it('is had by what is larger than all of it when nobody else has any', async () => {
    const room = createRoom(100);
    const [small, large] = [taking(room, 1), taking(room, 500)];
    await setImmediate();
    expect(large.has).toBe(false);
    small.share.close();
    await setImmediate();
    expect(large.has).toBe(true);
    const next = taking(room, 1);
    await setImmediate();
    expect(next.has).toBe(false);
    large.share.close();
    await setImmediate();
    expect(next.has).toBe(true);
  });

  it('lets one go ahead when all who have some wait for more', async () => {
    const room = createRoom(100);
    const [one, two] = [room(), room()];
    await one.take(50, signal);
    await two.take(50, signal);
    const done: string[] = [];
    const more = [
      one.take(50, signal).then(() => done.push('one')),
      two.take(50, signal).then(() => done.push('two')),
    ];
    await setImmediate();
    expect(done).toEqual(['one']);
    one.close();
    await Promise.all(more);
    expect(done).toEqual(['one', 'two']);
  });

  it('is not waited for any more by who was told to stop', async () => {
    const room = createRoom(100);
    const stop = new AbortController();
    const [first, second, third] = [taking(room, 100), taking(room, 100, stop.signal), taking(room, 0)];
    await setImmediate();
    stop.abort(new Error('stopped'));
    await setImmediate();
    expect([second.has, second.failed, third.has]).toEqual([false, new Error('stopped'), true]);
    expect(first.has).toBe(true);
  });

  it('can be waited for by who has none, without taking any', async () => {
    const room = createRoom(100);
    const other = room();
    expect(other.mayFetch()).toBe(true);
    const [first, second] = [taking(room, 100), taking(room, 1)];
    await setImmediate();
    expect([other, first.share].map((share) => share.mayFetch())).toEqual([false, true]);
    let passed = false;
    void other.pass(signal).then(() => {
      passed = true;
    });
    await setImmediate();
    expect(passed).toBe(false);
    first.share.close();
    await setImmediate();
    expect([second.has, passed]).toEqual([true, true]);
  });
});
