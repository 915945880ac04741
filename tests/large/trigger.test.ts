import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  defaultIndex,
  fetchFile,
  smallCatalog,
  startPublisher,
  trigger,
} from '../support/hosted/publisher.ts';

it('the files are served while a large catalog is being published', async () => {
  const busy = await startPublisher();
  try {
    await trigger(busy.config, { message: { catalogs: [smallCatalog('coffee')] } });
    const resources = Array.from({ length: 60_000 }, (_, index) => ({
      id: `r-${index}`,
      descriptor: {
        name: `Resource ${index}`,
        longDesc: createHash('sha256').update(`${index}`).digest('hex').repeat(8),
      },
    }));
    const catalog = { ...smallCatalog('large'), resources };
    const body = JSON.stringify({ message: { catalogs: [catalog] } });
    let isDone = false;
    const publishing = trigger(busy.config, body).finally(() => {
      isDone = true;
    });
    let served = 0;
    while (!isDone) {
      expect((await fetchFile(busy.config, defaultIndex)).status).toBe(200);
      served += 1;
    }
    expect((await publishing).body).toMatchObject({ status: 'COMPLETED' });
    // If the main thread had done the work, one of only a few answers would have waited for all of it.
    expect(served).toBeGreaterThan(10);
  } finally {
    await busy.close();
  }
});
