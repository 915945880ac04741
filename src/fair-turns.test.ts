import { afterEach, describe, expect, it, vi } from 'vitest';
import { fakeTime, watchFor } from '../tests/support/time.ts';
import { createTurns, DeadlineExceeded, NoTurn, type Turn, TurnLost, type Turns } from './fair-turns.ts';

const longMs = 60_000;
let clock = 0;

describe('turns', () => {
  it('are all for one owner while nobody else asks, and at most half of them once others do', async () => {
    const turns = createTurns({ size: 4 });
    const held = await Promise.all([1, 2, 3, 4].map(() => turns.take('greedy', longMs)));
    (await turns.take('other', longMs)).end();
    const more = queue(turns, 'greedy', 2);
    for (const turn of held.slice(0, 2)) turn.end();
    await settle();
    expect(more.begun).toHaveLength(0);
    held[2]?.end();
    await settle();
    expect(more.begun).toHaveLength(1);
  });

  it('are no more for one owner than it may hold, also while nobody else asks', async () => {
    const turns = createTurns({ size: 4, perOwner: 1 });
    const held = await turns.take('greedy', longMs);
    const more = queue(turns, 'greedy', 1);
    await settle();
    expect(more.begun).toHaveLength(0);
    held.end();
    await settle();
    expect(more.begun).toHaveLength(1);
  });

  it('come at once to an owner that holds none, whatever another one holds and waits for', async () => {
    const turns = createTurns({ size: 2 });
    await Promise.all([turns.take('greedy', longMs), turns.take('greedy', longMs)]);
    queue(turns, 'greedy', 50);
    const turn = await turns.take('modest', 0);
    turn.end();
  });

  it('come first to the owner whose turns took the least time in the last minute', async () => {
    const turns = createTurns({ size: 1, now: () => clock });
    for (const [owner, ms] of [
      ['costly', 900],
      ['cheap', 10],
    ] as const) {
      const turn = await turns.take(owner, longMs);
      clock += ms;
      turn.end();
    }
    const running = await turns.take('a', longMs);
    await turns.take('b', longMs);
    const order: string[] = [];
    for (const owner of ['costly', 'costly', 'cheap', 'cheap'])
      void turns.take(owner, longMs).then((turn) => {
        order.push(owner);
        clock += 10;
        turn.end();
      });
    await settle();
    expect(order).toEqual([]);
    running.end();
    await settle();
    expect(order).toEqual(['cheap', 'cheap', 'costly', 'costly']);
  });

  it('forget what was used more than a minute ago', async () => {
    const turns = createTurns({ size: 1, now: () => clock });
    for (const [owner, ms] of [
      ['long ago', 9_000],
      ['lately', 10],
    ] as const) {
      const turn = await turns.take(owner, longMs);
      clock += ms;
      turn.end();
      clock += 40_000;
    }
    const held = [await turns.take('a', longMs), await turns.take('b', longMs)];
    const order: string[] = [];
    for (const owner of ['lately', 'long ago'])
      void turns.take(owner, longMs).then((turn) => {
        order.push(owner);
        turn.end();
      });
    for (const turn of held) turn.end();
    await settle();
    expect(order).toEqual(['long ago', 'lately']);
  });

  it('that are left before their end make room for others, and still count among those of their owner', async () => {
    const turns = createTurns({ size: 4 });
    (await turns.take('other', longMs)).end();
    const held = await Promise.all([turns.take('greedy', longMs), turns.take('greedy', longMs)]);
    for (const turn of held) turn.leave();
    const more = queue(turns, 'greedy', 1);
    const others = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => turns.take(owner, 0)));
    expect(more.begun).toHaveLength(0);
    for (const turn of others) turn.end();
    held[0]?.end();
    await settle();
    expect(more.begun).toHaveLength(1);
  });

  it('that do not come in time are told from work that took too long', async () => {
    const turns = createTurns({ size: 1 });
    await turns.take('a', longMs);
    const late = turns.take('a', 20);
    await expect(late).rejects.toThrow(NoTurn);
    await expect(late).rejects.toThrow(DeadlineExceeded);
  });

  it('are waited for by no more of one owner than allowed, and others are not refused for that', async () => {
    const turns = createTurns({ size: 1, maxWaiting: 2 });
    await turns.take('flood', longMs);
    queue(turns, 'flood', 2);
    await expect(turns.take('flood', longMs)).rejects.toThrow(NoTurn);
    await turns.take('other', longMs);
    const waiting = queue(turns, 'other', 2);
    await settle();
    expect(waiting.refused).toHaveLength(0);
  });

  it('reject whoever waits when they are closed', async () => {
    const turns = createTurns({ size: 1 });
    await turns.take('a', longMs);
    const waiting = turns.take('a', longMs);
    turns.close(new Error('closed'));
    await expect(waiting).rejects.toThrow('closed');
    await expect(turns.take('b', longMs)).rejects.toThrow('closed');
  });
});

describe('turns that give way when they are long', () => {
  const shortMs = 100;
  const open = () => createTurns({ size: 4, shortMs, now: () => clock });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('are taken away where more than half are long, the newest first, for somebody whose turns may be short', async () => {
    const turns = open();
    const held = await takeAll(turns, ['a', 'b', 'c']);
    const waiting = queue(turns, 'new', 1);
    await settle();
    expect(waiting.begun).toHaveLength(0);
    clock += shortMs;
    await lookedAgain();
    expect(waiting.begun).toHaveLength(1);
    expect(lostOf(held)).toEqual([false, false, true]);
    expect(held[2]?.lost.reason).toBeInstanceOf(TurnLost);
  });

  it('are taken from the owner that had used the most before, and not from one who is known for short turns', async () => {
    const turns = open();
    for (const [owner, ms] of [
      ['short', shortMs - 1],
      ['most', shortMs + 1],
    ] as const) {
      const [turn] = await takeAll(turns, [owner]);
      clock += ms;
      turn?.end();
    }
    const held = await takeAll(turns, ['most', 'a', 'short', 'short']);
    queue(turns, 'new', 1);
    clock += shortMs;
    await lookedAgain();
    expect(lostOf(held)).toEqual([true, false, false, false]);
  });

  it('stay where nobody waits, and where no more than half are long', async () => {
    const turns = open();
    const held = await takeAll(turns, ['a', 'b']);
    clock += shortMs;
    held.push(...(await takeAll(turns, ['c'])));
    queue(turns, 'new', 1);
    await lookedAgain();
    expect(lostOf(held)).toEqual([false, false, false]);
  });

  it('of an owner that lost one leave half to others, until one of them was short', async () => {
    const turns = open();
    const [first, second, third] = await takeAll(turns, ['long', 'long', 'long']);
    const waiting = queue(turns, 'new', 1);
    clock += shortMs;
    await lookedAgain();
    expect(third?.lost.aborted).toBe(true);
    waiting.begun[0]?.end();
    const again = queue(turns, 'long', 3);
    await settle();
    expect(again.begun).toHaveLength(0);
    first?.end();
    await settle();
    expect(again.begun).toHaveLength(1);
    clock += shortMs / 2;
    again.begun[0]?.end();
    second?.end();
    await settle();
    // From now on it has as many as others.
    expect(again.begun).toHaveLength(3);
  });

  it('are all but one for owners that nobody knows: the last is for those whose turns are short', async () => {
    const turns = open();
    (await turns.take('short', longMs)).end();
    await takeAll(turns, ['a', 'b', 'c']);
    const waiting = queue(turns, 'd', 1);
    await settle();
    expect(waiting.begun).toHaveLength(0);
    await turns.take('short', 0);
  });

  it('are at most half for an owner that is not known for short ones, while others ask as well', async () => {
    const turns = open();
    (await turns.take('other', longMs)).end();
    await takeAll(turns, ['a', 'a']);
    const waiting = queue(turns, 'a', 1);
    await takeAll(turns, ['b']);
    await settle();
    expect(waiting.begun).toHaveLength(0);
  });

  it('come to short work of one owner among long work of twenty others: none of 60 is refused, none waits long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const turns = createTurns({ size: 5, shortMs });
    const withinMs = 5_000;
    const workMs = 5_000;
    for (let owner = 0; owner < 20; owner += 1)
      for (let count = 0; count < 4; count += 1) void repeat(() => hold(turns, `long ${owner}`, workMs));
    const waits: number[] = [];
    const asked = (async () => {
      for (let count = 0; count < 60; count += 1) {
        waits.push(await hold(turns, 'short', 30));
        await fakeTime(70);
      }
    })();
    let isDone = false;
    asked.finally(() => {
      isDone = true;
    });
    while (!isDone) await vi.advanceTimersByTimeAsync(1_000);
    await asked;
    expect(waits).toHaveLength(60);
    // Each of the others has one short turn before it is known for its long ones. By then, this one is known for its short ones.
    expect(waits[0]).toBeLessThan((20 / 2 + 2) * shortMs);
    expect(Math.max(...waits.slice(1))).toBe(0);

    /** Rejects with NoTurn. Returns the time that it waited. */
    async function hold(from: Turns, owner: string, ms: number): Promise<number> {
      const askedAt = performance.now();
      const turn = await from.take(owner, withinMs);
      const waited = performance.now() - askedAt;
      await Promise.race([
        fakeTime(ms),
        new Promise((resolve) => turn.lost.addEventListener('abort', resolve)),
      ]);
      turn.end();
      return waited;
    }

    async function repeat(work: () => Promise<unknown>): Promise<never> {
      for (;;) await work().catch(() => undefined);
    }
  });

  /** One after another. */
  async function takeAll(turns: Turns, owners: readonly string[]): Promise<Turn[]> {
    const taken: Turn[] = [];
    for (const owner of owners) {
      clock += 1;
      taken.push(await turns.take(owner, longMs));
    }
    return taken;
  }

  function lostOf(turns: readonly Turn[]): boolean[] {
    return turns.map(({ lost }) => lost.aborted);
  }

  /** While someone waits, turns are examined every quarter of a short turn, by the machine's clock. */
  function lookedAgain(): Promise<void> {
    return watchFor(shortMs);
  }
});

function queue(turns: Turns, owner: string, count: number): { begun: Turn[]; refused: unknown[] } {
  const [begun, refused]: [Turn[], unknown[]] = [[], []];
  for (let index = 0; index < count; index++)
    turns.take(owner, longMs).then(
      (turn) => begun.push(turn),
      (reason) => refused.push(reason),
    );
  return { begun, refused };
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
