import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import {
  parseSignatureHeader,
  type SignatureHeader,
  signRequest,
} from '../../../src/protocol/request-signature.ts';
import { loadOrCreateSigningKey } from '../../../src/registry/key-files.ts';
import { feedTable } from '../../../src/storage/feeds/feeds.ts';
import { newId, publishCatalog, resource } from '../../support/catalogs/small-catalogs.ts';
import type { Actor } from '../../support/network/actor.ts';
import {
  names,
  startDiscovery,
  type TestDiscovery,
  withoutDiscovery,
} from '../../support/network/discovery.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type PlayedService, playService } from '../../support/network/played-service.ts';
import { subscribe } from '../../support/network/subscriptions.ts';
import { until } from '../../support/time.ts';

// GET and DELETE sign zero bytes: until it expires, a signature is valid for any of them. What a receiver does about this, and how a discovery
// service notices misuse of its signatures.

const retail = 'a.example/retail';

let network: TestNetwork;
beforeAll(async () => {
  network = await startNetwork({ settings: withoutDiscovery });
});
afterAll(() => network?.close());

const bodiless = (key: Actor['key'], lifetimeSeconds: number, secondsAgo = 0) =>
  signRequest(key, Buffer.alloc(0), { now: new Date(Date.now() - secondsAgo * 1000), lifetimeSeconds });

let peerSeconds = 300;
/** Signs like deployed peers: for minutes, and the same signature for all requests without body in one second. Each call uses another second. */
function asPeersSign(key: Actor['key'], secondsAgo = 0): string {
  peerSeconds += 1;
  return bodiless(key, peerSeconds, secondsAgo);
}

describe('a receiver', () => {
  let ds: Actor;
  beforeAll(async () => {
    ds = await network.actor('ds');
  });

  const deactivate = (subscriptionId: string, authorization: string) =>
    ds.send(actions.unsubscribe, undefined, { query: { subscriptionId }, headers: { authorization } });

  async function statusOf(subscriptionId: string): Promise<string> {
    const { body } = await ds.send(actions.listSubscriptions, undefined, { query: { subscriptionId } });
    return body.message.subscriptions[0].status;
  }

  it('gives the same answer to the same DELETE, and does nothing again', async () => {
    const id = await subscribe(ds, { networkIds: ['same.org/net'] });
    const authorization = bodiless(ds.key, 45);
    const first = await deactivate(id, authorization);
    expect(first).toMatchObject({
      status: 200,
      body: { message: { subscriptions: [{ status: 'INACTIVE' }] } },
    });
    await ds.send(
      actions.subscribe,
      { subscription: { networkIds: ['same.org/net'] } },
      { query: { subscriptionId: id } },
    );
    const again = await deactivate(id, authorization);
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(await statusOf(id)).toBe('ACTIVE');
  });

  const subscribeTwice = (name: string) =>
    Promise.all(['one', 'two'].map((part) => subscribe(ds, { networkIds: [`${name}.org/${part}`] })));

  it('accepts two DELETEs that a peer signed alike in one second, also when both come at the same moment, and answers each again', async () => {
    const ids = await subscribeTwice('alike');
    const authorization = asPeersSign(ds.key);
    const answers = await Promise.all(ids.map((id) => deactivate(id, authorization)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['INACTIVE', 'INACTIVE']);
    const again = await Promise.all(ids.map((id) => deactivate(id, authorization)));
    expect(again.map(({ body }) => body)).toEqual(answers.map(({ body }) => body));
  });

  it('AUT_SIGNATURE_INVALID: the same for a subscription of somebody else, and for one that nobody has', async () => {
    const other = await network.actor('other-ds');
    const id = await subscribe(ds, { networkIds: ['own.org/net'] });
    const foreign = await subscribe(other, { networkIds: ['foreign.org/net'] });
    const authorization = asPeersSign(ds.key);
    expect((await deactivate(id, authorization)).status).toBe(200);
    for (const another of [foreign, randomUUID()])
      expect(await deactivate(another, authorization)).toMatchObject({
        status: 401,
        body: { message: { error: { code: 'AUT_SIGNATURE_INVALID' } } },
      });
  });

  it('AUT_SIGNATURE_INVALID: the same where the signature has served a GET', async () => {
    const [one = '', two = ''] = await subscribeTwice('listed');
    const authorization = asPeersSign(ds.key);
    const listed = await ds.send(actions.listSubscriptions, undefined, { headers: { authorization } });
    expect(listed.status).toBe(200);
    expect((await deactivate(one, authorization)).status).toBe(200);
    expect((await deactivate(two, authorization)).status).toBe(401);
    expect(await statusOf(two)).toBe('ACTIVE');
  });

  it('AUT_SIGNATURE_INVALID: the signature of a DELETE at another address, more than 5 s after it was made, also when both come at the same moment', async () => {
    const ids = await subscribeTwice('late');
    const authorization = asPeersSign(ds.key, 6);
    const answers = await Promise.all(ids.map((id) => deactivate(id, authorization)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(answers.find(({ status }) => status === 401)?.body.message.error.code).toBe(
      'AUT_SIGNATURE_INVALID',
    );
    const states = await Promise.all(ids.map(statusOf));
    expect(states.sort()).toEqual(['ACTIVE', 'INACTIVE']);
    const unknown = await deactivate(randomUUID(), authorization);
    expect(unknown.status).toBe(401);
  });

  it.each([
    [600, 200],
    [601, 401],
  ])('takes a signature of %i s without body: %i', async (seconds, expected) => {
    const headers = { authorization: bodiless(ds.key, seconds) };
    const { status } = await ds.send(actions.listSubscriptions, undefined, { headers });
    expect(status).toBe(expected);
  });
});

describe('the discovery service', () => {
  let discovery: TestDiscovery;
  let provider: Actor;
  let service: PlayedService;
  beforeAll(async () => {
    provider = await network.actor('provider');
    service = await playService(network, 'service', () => discovery.url);
    discovery = await startDiscovery(
      network,
      [network.catalogUrl, service.actor.url].map((catalogUrl) => ({ catalogUrl, networkIds: [retail] })),
    );
    await discovery.settled();
  });
  afterAll(() => discovery?.stop());

  async function subscriptionAt(catalogUrl: string): Promise<string | undefined> {
    const { rows } = await network.database.query<{ id: string }>(
      'select subscription_id as id from discovery.feed where catalog_url = $1',
      [catalogUrl],
    );
    return rows[0]?.id;
  }

  // Two signatures without body that one key makes in one second for the same lifetime are the same signature, and one that was used for a GET is
  // refused: so each of these gets a different lifetime.
  let lifetimeS = 300;

  /** With a captured signature of the discovery service, which every service that it subscribes to receives. */
  async function end(subscriptionId: string): Promise<void> {
    const key = loadOrCreateSigningKey(network.config.DATA_DIR, discovery.config.identities.discovery);
    const url = `${network.catalogUrl}/catalog/subscription?subscriptionId=${subscriptionId}`;
    const headers = { authorization: bodiless(key, lifetimeS++) };
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200);
  }

  async function expectSubscribedAgain(before: string): Promise<void> {
    const after = await subscriptionAt(network.catalogUrl);
    expect(after).not.toBe(before);
    const { rows } = await network.database.query('select status from catalog.subscription where id = $1', [
      after,
    ]);
    expect(rows).toEqual([{ status: 'ACTIVE' }]);
  }

  /** Makes everything some minutes older. */
  async function passMinutes(minutes: number): Promise<void> {
    const earlier = `- interval '${minutes} minutes'`;
    await changeFeeds(
      `check_at = check_at ${earlier}, sent_at = sent_at ${earlier}, due_at = due_at ${earlier}`,
    );
  }

  async function changeFeeds(assignments: string): Promise<void> {
    await network.database.transaction(async (tx) => {
      await tx.query(`update discovery.feed set ${assignments}`);
      tx.hint(feedTable);
    });
  }

  it('notices at its next look, 15 minutes after the last, that somebody ended its subscription with a captured signature, and has everything again', async () => {
    const before = (await subscriptionAt(network.catalogUrl)) ?? '';
    await end(before);
    const id = newId();
    await publishCatalog(provider, { id, resources: [resource('r1')] }, { visibleTo: [retail] });
    await passMinutes(16);
    await until(async () => (await names(network.database, id)) !== undefined, 'the catalog to be pulled');
    await expectSubscribedAgain(before);
  });

  it('looks at its subscriptions when it starts, and has everything again where one was ended meanwhile', async () => {
    const before = (await subscriptionAt(network.catalogUrl)) ?? '';
    await discovery.stop();
    await end(before);
    const id = newId();
    await publishCatalog(provider, { id, resources: [resource('r1')] }, { visibleTo: [retail] });
    await discovery.start();
    await until(async () => (await names(network.database, id)) !== undefined, 'the catalog to be pulled');
    await expectSubscribedAgain(before);
  });

  it('looks at a subscription when it starts although it waits for the answer to a pull', async () => {
    service.onPull = async () => undefined;
    const { length: pulls } = service.pulls;
    await changeFeeds('pull_at = now(), due_at = now()');
    await until(() => service.pulls.length > pulls, 'a pull that is not answered');
    await discovery.stop();
    const { length: before } = service.looks;
    await discovery.start();
    await until(() => service.looks.length > before, 'a look at the subscription');
    expect(service.pulls.length).toBe(pulls + 1);
    service.onPull = undefined;
    await passMinutes(11);
    await discovery.settled();
  });

  it('signs a GET for 10 s, and by the clock of a service that refuses it where that clock differs', async () => {
    const hourMs = 3_600_000;
    const signed: SignatureHeader[] = [];
    service.reply = ({ method, authorization }) => {
      if (method !== 'GET') return undefined;
      const header = parseSignatureHeader(authorization);
      signed.push(header);
      const clock = new Date(Date.now() + hourMs);
      const isInTime = header.created <= clock.getTime() / 1000 && header.expires > clock.getTime() / 1000;
      return isInTime ? undefined : { status: 401, headers: { date: clock.toUTCString() }, body: {} };
    };
    const { length: before } = service.looks;
    await passMinutes(16);
    await until(() => service.looks.length > before, 'a look that is not refused');
    service.reply = undefined;
    expect(signed.map(({ created, expires }) => expires - created)).toEqual([10, 10]);
    const [first, second] = signed.map(({ created }) => created);
    expect(Math.abs((second ?? 0) - (first ?? 0) - hourMs / 1000)).toBeLessThan(60);
  });

  it('looks at its subscription earlier when a push comes that it did not ask for', async () => {
    await passMinutes(5);
    const { length: before } = service.looks;
    const catalog = { id: newId(), provider: { id: 'p', descriptor: { name: 'P' } } };
    const { status } = await service.push(
      [{ ...catalog, descriptor: { name: 'C' }, resources: [resource('r')] }],
      {
        visibleTo: ['other.example/net'],
      },
    );
    expect(status).toBe(202);
    await until(() => service.looks.length > before, 'a look at the subscription');
  });

  it('looks at its subscription when a pull fails, and makes it anew where it is not ACTIVE', async () => {
    const before = (await subscriptionAt(service.actor.url)) ?? '';
    const subscription = service.subscriptions.get(before);
    let failed = false;
    service.onPull = async (pull) => {
      subscription.status = 'INACTIVE';
      failed = true;
      service.onPull = undefined;
      await service.answer(pull, { status: 'FAILED', error: { code: 'NET_INTERNAL_ERROR', message: 'no' } });
    };
    await discovery.pull();
    expect(failed).toBe(true);
    const after = (await subscriptionAt(service.actor.url)) ?? '';
    expect(after).not.toBe(before);
    expect(service.pulls.at(-1)?.body.message.subscriptionId).toBe(after);
  });

  it('goes on pulling from a service that tells of subscriptions in a shape that it cannot read', async () => {
    let looks = 0;
    service.reply = ({ method, action }) => {
      if (method !== 'GET' || action !== actions.subscribe.name) return undefined;
      looks += 1;
      return { status: 200, body: { subscription: 'active' } };
    };
    const { length: before } = service.pulls;
    // The subscription is checked before every request for a pull.
    await network.database.query('update discovery.feed set check_at = null');
    await discovery.pull();
    expect(looks).toBeGreaterThan(0);
    expect(service.pulls.length).toBeGreaterThan(before);
    service.reply = undefined;
  });
});
