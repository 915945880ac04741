// Loaded before a role (node --expose-gc --import): tells the suite, on its channel, what memory the process has once garbage is collected.
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('message', (message) => {
    if (message !== 'memory') return;
    globalThis.gc();
    const { rss, heapUsed } = process.memoryUsage();
    process.send({ rss, heapUsed });
  });
  process.channel.unref();
}
