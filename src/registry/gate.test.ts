import { describe, expect, it } from 'vitest';
import { watchFor } from '../../tests/support/time.ts';
import { createGate, GateClosed } from './gate.ts';

describe('a gate', () => {
  it('lets so many in, and the next one when somebody leaves, who came first at first', async () => {
    const enter = createGate({ concurrent: 2, waiting: 10, waitMs: 1_000 });
    const [leave] = [await enter(), await enter()];
    const order: string[] = [];
    const third = enter().then((leaveThird) => {
      order.push('third');
      leaveThird();
    });
    const fourth = enter().then(() => order.push('fourth'));
    await watchFor(10);
    expect(order).toEqual([]);
    leave();
    await Promise.all([third, fourth]);
    expect(order).toEqual(['third', 'fourth']);
  });

  it('turns away who has waited for too long, and gives the place to who still waits', async () => {
    const enter = createGate({ concurrent: 1, waiting: 10, waitMs: 50 });
    const leave = await enter();
    await expect(enter()).rejects.toThrow(GateClosed);
    const late = enter();
    leave();
    const leaveAgain = await late;
    leaveAgain();
    await enter();
  });

  it('turns away at once who comes when too many wait', async () => {
    const enter = createGate({ concurrent: 1, waiting: 1, waitMs: 50 });
    await enter();
    const second = enter();
    await expect(enter()).rejects.toThrow('1 are waiting already');
    await expect(second).rejects.toThrow(GateClosed);
  });
});
