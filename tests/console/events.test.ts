import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId, publishCatalog, resource } from '../support/catalogs/small-catalogs.ts';
import { consoleOf } from '../support/network/console.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { until } from '../support/time.ts';

// GET /api/events: the page learns of every change, made by any process.

let network: TestNetwork;
beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry,catalog,console' } });
});
afterAll(() => network?.close());

/** Reads events until it is stopped. */
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

/** Starts to listen with the given identity. */
async function knock({
  headers = {},
  localAddress = '127.0.0.1',
}: {
  headers?: Record<string, string>;
  localAddress?: string;
}) {
  const asking = request(`${network.config.consoleUrl}/api/events`, { agent: false, headers, localAddress });
  asking.on('error', () => undefined).end();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  const status = answer.statusCode;
  const code = status === 200 ? undefined : JSON.parse(await text(answer)).error.code;
  return { status, code, retryAfter: answer.headers['retry-after'], leave: () => void asking.destroy() };
}

/** The cookie of a new session; sessions that start in the same second are the same. */
async function signIn(): Promise<string> {
  const { consoleUrl } = network.config;
  const body = JSON.stringify({ token: consoleOf(network).token });
  const headers = { 'content-type': 'application/json' };
  return until(async () => {
    const { headers: answered } = await fetch(`${consoleUrl}/api/session`, { method: 'POST', headers, body });
    const cookie = String(answered.get('set-cookie')).split(';')[0] ?? '';
    if (sessions.has(cookie)) return false;
    sessions.add(cookie);
    return cookie;
  }, 'a session of its own');
}
const sessions = new Set<string>();

describe('GET /api/events', () => {
  it('tells of a publish, of the catalog and of its delivery', async () => {
    const { response, events, leave } = await listen();
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const provider = await network.actor('provider');
    const seen = () => events.map(({ topic }) => topic);
    // The first poll only reads the current state.
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

  it('are limited to ten for each reader, who is told when to come back', async () => {
    const cookie = await signIn();
    const listeners = await Promise.all(Array.from({ length: 11 }, () => knock({ headers: { cookie } })));
    expect(listeners.map(({ status }) => status).sort()).toEqual([...Array(10).fill(200), 429]);
    const refused = listeners.find(({ status }) => status === 429);
    expect(refused).toMatchObject({ retryAfter: '15', code: 'AUT_RATE_LIMITED' });
    // Another session and the token itself count as different readers.
    const { token } = consoleOf(network);
    const others = [
      await knock({ headers: { cookie: await signIn() } }),
      await knock({ headers: { authorization: `Bearer ${token}` } }),
    ];
    expect(others.map(({ status }) => status)).toEqual([200, 200]);
    for (const { leave } of [...listeners, ...others]) leave();
    await until(async () => {
      const { status, leave } = await knock({ headers: { cookie } });
      leave();
      return status === 200;
    }, 'room for another');
  });

  it('are limited to fifty for all who have no token, whatever their addresses, and leave room for the operator', async () => {
    const localAddresses = [2, 3, 4, 5, 6].flatMap((last) => Array<string>(10).fill(`127.0.0.${last}`));
    const strangers = await Promise.all(localAddresses.map((localAddress) => knock({ localAddress })));
    expect(strangers.every(({ status }) => status === 200)).toBe(true);
    const refused = await knock({ localAddress: '127.0.0.7' });
    expect(refused).toMatchObject({ status: 503, retryAfter: '15', code: 'NET_OVERLOADED' });
    const operator = await knock({ headers: { cookie: await signIn() } });
    expect(operator.status).toBe(200);
    for (const { leave } of [...strangers, operator]) leave();
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
