import { describe, expect, it } from 'vitest';
import { type Asker, createGate, GateClosed, type GateLimits } from './gate.ts';

const roomy: GateLimits = {
  concurrent: 2,
  perLane: 2,
  waiting: 10,
  perSource: { concurrent: 2, waiting: 10 },
  waitMs: 60_000,
};

describe('a gate', () => {
  it('lets a fixed number in, and the next one in order when somebody leaves', async () => {
    const { enter, order } = watch(roomy);
    const [leave] = [await enter('first'), await enter('second')];
    const third = enter('third').then((leaveThird) => leaveThird());
    const fourth = enter('fourth');
    expect(order).toEqual(['first', 'second']);
    leave();
    await Promise.all([third, fourth]);
    expect(order).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('turns away who has waited for too long, and gives the slot to who still waits', async () => {
    const enter = createGate({ ...roomy, concurrent: 1, waitMs: 50 });
    const leave = await enter();
    await expect(enter()).rejects.toThrow(GateClosed);
    const late = enter();
    leave();
    const leaveAgain = await late;
    leaveAgain();
    await enter();
  });

  it('turns away at once who comes when too many wait', async () => {
    const enter = createGate({ ...roomy, concurrent: 1, waiting: 1, waitMs: 50 });
    await enter();
    const second = enter();
    await expect(enter()).rejects.toThrow('1 are waiting already');
    await expect(second).rejects.toThrow(GateClosed);
  });

  it('frees a slot once, however often it is left', async () => {
    const enter = createGate({ ...roomy, concurrent: 1, waitMs: 50 });
    const leave = await enter();
    leave();
    leave();
    await enter();
    await expect(enter()).rejects.toThrow(GateClosed);
  });

  it('lets those who ask for what is known go before strangers, and keeps slots for each of both', async () => {
    const { enter, order } = watch({ ...roomy, concurrent: 3, perLane: 2 });
    const leave = await enter('stranger 1', { source: 'a' });
    await enter('stranger 2', { source: 'b' });
    const stranger = enter('stranger 3', { source: 'c' });
    await enter('known 1', { source: 'd', isKnown: true });
    const known = enter('known 2', { source: 'd', isKnown: true });
    leave();
    const leaveKnown = await known;
    expect(order).toEqual(['stranger 1', 'stranger 2', 'known 1', 'known 2']);
    leaveKnown();
    await stranger;
  });

  it('gives each source its share of the slots, and of the queue', async () => {
    const { enter, order } = watch({ ...roomy, perSource: { concurrent: 1, waiting: 1 }, waitMs: 50 });
    await enter('flood 1', { source: 'a' });
    const flooding = enter('flood 2', { source: 'a' });
    await expect(enter('flood 3', { source: 'a' })).rejects.toThrow('1 are waiting already');
    await enter('other', { source: 'b' });
    await expect(flooding).rejects.toThrow(GateClosed);
    expect(order).toEqual(['flood 1', 'other']);
  });

  it('lets the sources take turns', async () => {
    const { enter, order } = watch({ ...roomy, concurrent: 1 });
    const leave = await enter('first', { source: 'a' });
    const waiting = ['a', 'a', 'a', 'b', 'c', 'b'].map(async (source, index) => {
      (await enter(`${source}${index}`, { source }))();
    });
    leave();
    await Promise.all(waiting);
    expect(order).toEqual(['first', 'a0', 'b3', 'c4', 'a1', 'b5', 'a2']);
  });
});

function watch(limits: GateLimits) {
  const gate = createGate(limits);
  const order: string[] = [];
  return {
    order,
    enter: async (name: string, asker?: Asker) => {
      const leave = await gate(asker);
      order.push(name);
      return leave;
    },
  };
}
