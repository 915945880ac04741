import { describe, expect, it } from 'vitest';
import { createTurns, DeadlineExceeded, NoTurn, type Turn, type Turns } from './fair-turns.ts';

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

  it('come first to the owner whose turns took the least time lately', async () => {
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

  it('forget what was used long ago', async () => {
    const turns = createTurns({ size: 2, now: () => clock });
    const once = await turns.take('once', longMs);
    clock += 1_000;
    once.end();
    clock += 100_000;
    const held = [await turns.take('alone', longMs), await turns.take('alone', longMs)];
    expect(held).toHaveLength(2);
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
