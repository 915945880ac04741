import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { takeTime } from '../tests/support/time.ts';
import { findThreadName, meterThread } from './processor-time.ts';

it.runIf(process.platform === 'linux')(
  'the meter of a thread counts its processor time, and not the time that passes',
  async () => {
    const [read, begin] = [meterThread(findThreadName()), performance.now()];
    await takeTime(200);
    const idle = read();
    expect(idle).toBeLessThan(performance.now() - begin);
    for (let spins = 0; spins < 1e8; ) spins += 1;
    expect(read()).toBeGreaterThan(idle);
  },
);

it.each([undefined, 'nobody'])(
  'the meter of a thread whose processor time is not known (%s) counts the time that passes',
  async (name) => {
    const read = meterThread(name);
    await takeTime(20);
    expect(read()).toBeGreaterThan(10);
  },
);

it.runIf(process.platform === 'linux')(
  'the meter of a thread that has ended keeps its last count',
  async () => {
    const says = `const { parentPort } = require('node:worker_threads');
    parentPort.on('message', () => {});
    parentPort.postMessage(require('node:fs').readlinkSync('/proc/thread-self').split('/').pop());`;
    const thread = new Worker(says, { eval: true });
    const [name] = await once(thread, 'message');
    const read = meterThread(name);
    const last = read();
    await thread.terminate();
    expect(read()).toBe(last);
  },
);
