import { afterAll, beforeAll, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { listCallbacks } from '../../../src/storage/work/callback-list.ts';
import { startTamperingProxy, type TamperingProxy } from '../../support/hosted/tampering-proxy.ts';
import type { Actor } from '../../support/network/actor.ts';
import { startDiscovering } from '../../support/network/discover.ts';
import { type NameServer, startNameServer } from '../../support/network/name-server.mjs';
import type { TestNetwork } from '../../support/network/network.ts';
import { until } from '../../support/time.ts';

// A receiver whose name server never answers, while other calls need a name lookup each time, including those to the registry, which closes each connection.

let names: NameServer;
let registry: TamperingProxy;
let network: TestNetwork;

beforeAll(async () => {
  names = await startNameServer((name) =>
    name.endsWith('.slow.test') ? 'silent' : { A: ['127.0.0.1'], ttlSeconds: 0 },
  );
  registry = await startTamperingProxy();
  const discovering = await startDiscovering({
    settings: { DNS_SERVERS: names.address, REGISTRY_URL: `${named(registry.url, 'registry.test')}/dedi` },
  });
  network = discovering.network;
  registry.passTo(`http://127.0.0.1:${network.config.REGISTRY_PORT}`);
  registry.spoil((_path, { headers }) => ({ headers: { ...headers, connection: 'close' } }));
  await discovering.hold([{ id: 'roastery', resources: [{ id: 'beans', descriptor: { name: 'coffee' } }] }]);
});
afterAll(async () => {
  await network?.close();
  await registry?.stop();
  await names?.stop();
});

const slowUrl = 'http://receiver.slow.test:8080';
const slowName = 'A receiver.slow.test';
const searches = 24;

it('A receiver whose name server never answers holds up neither the callbacks of others nor lookups at a registry that goes by a name', async () => {
  const slow = await network.actor('slow', { url: slowUrl });
  const startedAt = performance.now();
  for (let count = 0; count < searches; count += 1) expect((await discover(slow, slowUrl)).status).toBe(200);
  await until(() => names.questions.includes(slowName), 'the slow name to be asked for');

  for (const name of ['one', 'two', 'three']) {
    const asked = countOf('A registry.test');
    const honest = await network.actor(name, { url: null });
    const { status, messageId } = await discover(honest, named(honest.url, `${name}.quick.test`));
    expect(status).toBe(200);
    await honest.waitFor('on_discover', messageId);
    expect(countOf('A registry.test')).toBeGreaterThan(asked);
    expect(names.questions).toContain(`A ${name}.quick.test`);
  }

  const open = await listCallbacks(network.database, { state: 'open', limit: 100 });
  expect(open.filter(({ destination }) => destination.startsWith(slowUrl))).toHaveLength(searches);
  // One lookup for all of them, of at most two questions, and no other for ten seconds.
  const lookups = 1 + Math.ceil((performance.now() - startedAt) / 10_000);
  expect(countOf(slowName)).toBeLessThanOrEqual(2 * lookups);
});

function discover(actor: Actor, bapUri: string) {
  const message = { intent: { textSearch: 'coffee' } };
  return actor.send(actions.discover, message, { to: network.discoveryUrl, context: { bapUri } });
}

function named(url: string, name: string): string {
  return url.replace('127.0.0.1', name);
}

function countOf(question: string): number {
  return names.questions.filter((asked) => asked === question).length;
}
