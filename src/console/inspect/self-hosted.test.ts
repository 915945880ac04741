import { describe, expect, it } from 'vitest';
import type { Fetched } from '../../discovery/crawl/fetch.ts';
import { recordFetches } from './self-hosted.ts';

const options = { maxBytes: 1_000, signal: AbortSignal.timeout(10_000) };
const now = () => new Date('2026-01-01T12:00:00Z');

/** Serves the number of bytes in the address. */
async function serve(url: string): Promise<Fetched> {
  const wire = Buffer.alloc(Number(url.split('/').at(-1)));
  return { kind: 'file', file: { url, wire, isEncoded: false } };
}

describe('the fetches of an inspection', () => {
  it('are kept with their sizes, and end it where they are too large together', async () => {
    const { fetcher, fetches } = recordFetches({ fetch: serve }, now, 100);
    await fetcher.fetch('https://node.example.org/60', options);
    await fetcher.fetch('https://node.example.org/40', options);
    expect([...fetches.values()].map(({ bytes }) => bytes)).toEqual([60, 40]);
    await expect(fetcher.fetch('https://node.example.org/1', options)).rejects.toMatchObject({
      ...{ status: 413, hint: expect.stringContaining('signpost doctor') },
    });
  });
});
