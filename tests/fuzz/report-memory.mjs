// Loaded before a watched process (node --expose-gc --import): reports to the suite the memory of the process after garbage collection, and its
// maximum since the last report.
import { isMainThread } from 'node:worker_threads';

const lookEveryMs = 50;

if (isMainThread) {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  setInterval(look, lookEveryMs).unref();
  process.on('message', (message) => {
    if (message.memory !== true) return;
    look();
    globalThis.gc();
    const { rss, heapUsed } = process.memoryUsage();
    process.send({ memory: { heapUsed, peak } });
    peak = rss;
  });
  process.channel.unref();
  // The suite is gone.
  process.on('disconnect', () => process.exit(1));
}
