import { describe, expect, it } from 'vitest';
import { watchFor } from '../../tests/support/time.ts';
import { createSlots } from './slots.ts';

const { signal } = new AbortController();

async function isWaiting(entry: Promise<unknown>): Promise<boolean> {
  return Promise.race([entry.then(() => false), watchFor(5).then(() => true)]);
}

describe('slots', () => {
  it('are bounded in all, and go to whoever waits longest', async () => {
    const slots = createSlots({ total: 2, perParty: 2 });
    const leave = await slots.enter('a', signal);
    await slots.enter('b', signal);
    const [third, fourth] = [slots.enter('c', signal), slots.enter('d', signal)];
    expect(await isWaiting(third)).toBe(true);
    leave();
    leave();
    expect(await isWaiting(third)).toBe(false);
    expect(await isWaiting(fourth)).toBe(true);
  });

  it('are bounded for each party, which then waits while others pass', async () => {
    const slots = createSlots({ total: 3, perParty: 1 });
    const leave = await slots.enter('slow', signal);
    const again = slots.enter('slow', signal);
    expect(await isWaiting(again)).toBe(true);
    expect(await isWaiting(slots.enter('quick', signal))).toBe(false);
    leave();
    expect(await isWaiting(again)).toBe(false);
  });

  it('are not waited for any longer when the signal comes', async () => {
    const slots = createSlots({ total: 1, perParty: 1 });
    const leave = await slots.enter('a', signal);
    const stop = new AbortController();
    const waiting = slots.enter('b', stop.signal);
    stop.abort(new Error('the process ends'));
    await expect(waiting).rejects.toThrow('the process ends');
    await expect(slots.enter('b', stop.signal)).rejects.toThrow('the process ends');
    leave();
    expect(await isWaiting(slots.enter('c', signal))).toBe(false);
  });
});
