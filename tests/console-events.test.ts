import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf } from './support/console.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from './support/network.ts';
import { newId, publishCatalog, resource } from './support/small-catalogs.ts';
import { until } from './support/time.ts';

// GET /api/events: the page is told what has changed, whichever process changed it.

let network: TestNetwork;
beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry,catalog,console' } });
});
afterAll(() => network?.close());

/** Reads events until it is left. */
async function listen() {
  const left = new AbortController();
  const response = await fetch(`${network.config.consoleUrl}/api/events`, { signal: left.signal });
  const events: { topic: string; at: string }[] = [];
  let text = '';
  const reading = (async () => {
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece).toString();
      for (const [, data = ''] of text.matchAll(/^event: change\ndata: (.*)\n\n/gm))
        events.push(JSON.parse(data));
      text = text.slice(text.lastIndexOf('\n\n') + 2);
    }
  })().catch(() => undefined);
  return { response, events, reading, leave: () => left.abort() };
}

describe('GET /api/events', () => {
  it('tells of a publish, of the catalog and of its delivery', async () => {
    const { response, events, leave } = await listen();
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const provider = await network.actor('provider');
    const seen = () => events.map(({ topic }) => topic);
    // The first poll only takes the state as it is.
    await until(async () => {
      await publishCatalog(provider, { id: newId(), resources: [resource('r1')] });
      return ['publish', 'catalog', 'delivery'].every((topic) => seen().includes(topic));
    }, 'the events');
    expect(events[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    leave();
  });

  it('tells of what this process did, with its id', async () => {
    const { events, leave } = await listen();
    await network.database.query(
      "insert into catalog.push_lane (subscriber) values ('ds.example.org/registry')",
    );
    const { rows } = await network.database.query<{ id: number }>(
      `insert into catalog.push (subscriber, catalog_key, wanted_version, state)
       select 'ds.example.org/registry', min(key), 1, 'parked' from catalog.catalog returning id`,
    );
    const id = `push-${rows[0]?.id}`;
    await consoleOf(network).ask(`/api/deliveries/${id}/skip`, { method: 'POST' });
    await until(() => events.some((event) => JSON.stringify(event).includes(`"id":"${id}"`)), 'the event');
    leave();
  });

  it('takes only so many listeners from one address', async () => {
    const listeners = await Promise.all(Array.from({ length: 33 }, listen));
    const statuses = listeners.map(({ response }) => response.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(32);
    expect(statuses.filter((status) => status === 503)).toHaveLength(1);
    for (const { leave } of listeners) leave();
    await until(async () => {
      const { response, leave } = await listen();
      leave();
      return response.status === 200;
    }, 'room for another');
  });

  it('ends when the console is closed, which does not wait for its listeners', async () => {
    const { reading } = await listen();
    const closedAt = performance.now();
    await network.restart();
    await reading;
    expect(performance.now() - closedAt).toBeLessThan(60_000);
    expect(network.config.DEFAULT_NETWORK_ID).toBe(defaultNetwork);
  });
});
