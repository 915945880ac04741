import { describe, expect, it } from 'vitest';
import { createRegistry } from './registry.ts';

describe('the registry of a client', () => {
  it('is read no further than its answers may be long', async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(2 ** 20).fill(0x20));
      },
    });
    const registry = createRegistry({
      ...{ url: 'https://registry.example.org/dedi', registryName: 'subscribers.beckn.one' },
      fetch: async () => new Response(endless),
    });
    await expect(registry.findKey('bpp.example.org', 'key-1')).rejects.toMatchObject({
      ...{ code: 'NET_DOWNSTREAM_UNAVAILABLE', message: expect.stringContaining('more than 4194304 bytes') },
    });
    expect(sent).toBeLessThan(10);
  });
});
