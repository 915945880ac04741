import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { generateSeed, privateKeyFromSeed } from '../../src/protocol/keys.ts';
import { signRequest } from '../../src/protocol/request-signature.ts';
import type { Actor } from '../support/network/actor.ts';
import { type ProxiedNetwork, startBehindProxy } from '../support/network/registry-proxy.ts';
import { send } from '../support/network/signed-service.ts';
import { patienceMs } from '../support/patience.ts';

// Requests with made-up keyIds, from one address, while the registry is slow to answer that they are unknown.

let proxied: ProxiedNetwork;
let known: Actor;
let held: ServerResponse[];
let flooding: Promise<unknown>[];

beforeAll(async () => {
  proxied = await startBehindProxy({ DISCOVERY_NETWORKS: '[]', TRUSTED_PROXIES: '127.0.0.1' });
  known = await proxied.network.actor('known');
  expect((await search(known)).status).toBe(200);
});
afterAll(() => proxied?.close());
afterEach(async () => {
  proxied.registry.spoil();
  for (const response of held) response.writeHead(404).end();
  await Promise.all(flooding);
});

const privateKey = privateKeyFromSeed(generateSeed());
/** More than the gate to the registry admits. */
const requests = 60;

describe.each([
  ['from an address of its own', { localAddress: '127.0.0.66' }, {}],
  [
    'from behind the same trusted proxy',
    { headers: { 'x-forwarded-for': '203.0.113.66' } },
    { headers: { 'x-forwarded-for': '198.51.100.7' } },
  ],
])('a flood of made-up keyIds %s', (where, attacker, honest) => {
  it.each<[string, (index: number) => [string, string]]>([
    ['of nobody', (index: number) => [`made-up-${index}.example`, 'key-1']],
    ['of a known participant', (index: number) => [known.id, `made-up-${index}`]],
  ])('%s leaves the lookups of others alone, known before or not', async (whose, name) => {
    holdMadeUp();
    flooding = Array.from({ length: requests }, (_, index) => {
      const [subscriberId, recordId] = name(index);
      const key = { subscriberId, recordId: `${recordId}-${where.length}`, privateKey };
      const authorization = signRequest(key, Buffer.from('{}'), { now: new Date() });
      const headers = { ...('headers' in attacker ? attacker.headers : {}), authorization };
      return send(`${proxied.network.catalogUrl}/catalog/search`, { ...attacker, headers, body: '{}' }).catch(
        () => undefined,
      );
    });
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(0), patienceMs);
    const stranger = await proxied.network.actor(`new-${where.length}-${whose.length}`);
    for (const actor of [known, stranger, known, stranger]) {
      expect((await search(actor, honest)).status).toBe(200);
    }
  });
});

function search(actor: Actor, options: object = {}) {
  return actor.send(actions.search, {}, { to: proxied.network.catalogUrl, ...options });
}

function holdMadeUp(): void {
  held = [];
  proxied.registry.spoil((path, _answer, response) => {
    if (!path.includes('made-up')) return undefined;
    held.push(response);
    return 'taken';
  });
}
