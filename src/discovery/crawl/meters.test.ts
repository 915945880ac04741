import { describe, expect, it } from 'vitest';
import { createMeters } from './crawl-host.ts';
import type { Fetcher } from './fetch.ts';
import { CrawlFault } from './reasons.ts';

const wire = Buffer.alloc(100);
const fetcher: Fetcher = {
  async fetch(url) {
    return { kind: 'file', file: { url, wire } };
  },
};
const options = { maxBytes: 1_000, signal: new AbortController().signal };
const node = (id: number, before = 0) => ({ node_id: id, node: `node-${id}`, fetched_today: before });

describe('what is fetched', () => {
  it('is counted by node, whatever it is fetched for', async () => {
    const meters = createMeters(fetcher, 1_000);
    await meters.of(node(1)).fetch('https://one/a', options);
    await meters.of(node(1)).fetch('https://one/b', options);
    await meters.of(node(2)).fetch('https://two/a', options);
    meters.of(node(3));
    expect(meters.fetched()).toEqual([
      { nodeId: 1, bytes: 200 },
      { nodeId: 2, bytes: 100 },
    ]);
  });

  it('daily-quota: ends when a node has had enough for the day, for that node', async () => {
    const meters = createMeters(fetcher, 250);
    const [one, again] = [meters.of(node(1, 100)), meters.of(node(1, 100))];
    await one.fetch('https://one/a', options);
    await again.fetch('https://one/b', options);
    await expect(one.fetch('https://one/c', options)).rejects.toThrow('The daily limit of node-1 is reached');
    await expect(meters.of(node(2)).fetch('https://two/a', options)).resolves.toMatchObject({ kind: 'file' });
  });

  it('counts also where it turned out to be too large: until then it came', async () => {
    const endless: Fetcher = {
      async fetch(url) {
        throw new CrawlFault('too-large', 'It is too large.', { url });
      },
    };
    const meters = createMeters(endless, 10_000);
    await expect(meters.of(node(1)).fetch('https://one/a', options)).rejects.toThrow('too large');
    expect(meters.fetched()).toEqual([{ nodeId: 1, bytes: options.maxBytes }]);
  });
});
