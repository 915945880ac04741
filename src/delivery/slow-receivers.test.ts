import { describe, expect, it } from 'vitest';
import { gate } from '../../tests/support/gate.ts';
import { takeTime, until, watchFor } from '../../tests/support/time.ts';
import { createSlowReceivers } from './slow-receivers.ts';

const patience = { asideMs: 20, slowMs: 60 };
const nobodyWaits = () => undefined;

describe('a receiver', () => {
  it('that answers soon is not slow, and lets nobody go first', async () => {
    const slow = createSlowReceivers(patience);
    await slow.watch(
      'quick',
      () => expect.fail('it was quick'),
      async () => undefined,
    );
    await watchFor(100);
    expect(slow.list()).toEqual([]);
  });

  it('that keeps waiting lets others go first, then counts as slow before it has answered, and until it is quick again', async () => {
    let changes = 0;
    const changed = () => {
      changes += 1;
    };
    const slow = createSlowReceivers({ ...patience, changed });
    const answered = gate();
    let steppedAside = 0;
    const waiting = slow.watch(
      'silent',
      () => {
        steppedAside += 1;
      },
      () => answered.passed,
    );
    await until(() => slow.has('silent'), 'the receiver to be slow');
    expect([steppedAside, slow.list(), changes]).toEqual([1, ['silent'], 1]);
    answered.open();
    await waiting;
    expect([slow.has('silent'), changes]).toEqual([true, 1]);
    await slow.watch('silent', nobodyWaits, async () => undefined);
    expect([slow.has('silent'), slow.list(), changes]).toEqual([false, [], 2]);
  });

  it('is judged by its time, also when the attempt fails', async () => {
    const slow = createSlowReceivers(patience);
    const failing = (ms: number) => async () => {
      await takeTime(ms);
      throw new Error('no answer');
    };
    await expect(slow.watch('gone', nobodyWaits, failing(0))).rejects.toThrow('no answer');
    await expect(slow.watch('silent', nobodyWaits, failing(100))).rejects.toThrow('no answer');
    expect(slow.list()).toEqual(['silent']);
  });
});
