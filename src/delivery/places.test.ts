import { describe, expect, it } from 'vitest';
import { watchFor } from '../../tests/support/time.ts';
import { createPlaces } from './places.ts';

const { signal } = new AbortController();

async function isWaiting(entry: Promise<unknown>): Promise<boolean> {
  return Promise.race([entry.then(() => false), watchFor(5).then(() => true)]);
}

describe('places', () => {
  it('are bounded in all, and go to whoever waits longest', async () => {
    const places = createPlaces({ total: 2, perParty: 2 });
    const leave = await places.enter('a', signal);
    await places.enter('b', signal);
    const [third, fourth] = [places.enter('c', signal), places.enter('d', signal)];
    expect(await isWaiting(third)).toBe(true);
    leave();
    leave();
    expect(await isWaiting(third)).toBe(false);
    expect(await isWaiting(fourth)).toBe(true);
  });

  it('are bounded for each party, which then waits while others pass', async () => {
    const places = createPlaces({ total: 3, perParty: 1 });
    const leave = await places.enter('slow', signal);
    const again = places.enter('slow', signal);
    expect(await isWaiting(again)).toBe(true);
    expect(await isWaiting(places.enter('quick', signal))).toBe(false);
    leave();
    expect(await isWaiting(again)).toBe(false);
  });

  it('are not waited for any longer when the signal comes', async () => {
    const places = createPlaces({ total: 1, perParty: 1 });
    const leave = await places.enter('a', signal);
    const stop = new AbortController();
    const waiting = places.enter('b', stop.signal);
    stop.abort(new Error('the process ends'));
    await expect(waiting).rejects.toThrow('the process ends');
    await expect(places.enter('b', stop.signal)).rejects.toThrow('the process ends');
    leave();
    expect(await isWaiting(places.enter('c', signal))).toBe(false);
  });
});
