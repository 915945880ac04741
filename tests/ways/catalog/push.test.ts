import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import {
  newId,
  offer,
  type PartialCatalog,
  publishCatalog,
  resource,
} from '../../support/catalogs/small-catalogs.ts';
import { gate } from '../../support/gate.ts';
import type { Actor } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import type { Directive } from '../../support/network/publish.ts';
import {
  allPushed,
  currentCopies,
  holdBack,
  type Receiver,
  startReceiver,
} from '../../support/network/receiver.ts';

// The content and the receivers of pushes (catalog spec: POST /catalog/push), over real HTTP and signatures.

const retail = 'a.example/retail';
const energy = 'b.example/energy';
const charger = 'https://schema.example.org/Charger/v1/context.jsonld';

let network: TestNetwork;
let provider: Actor;
let ds: Receiver;

beforeAll(async () => {
  network = await startNetwork();
  provider = await network.actor('provider');
  ds = await startReceiver(network, 'ds');
});
afterAll(() => network.close());
beforeEach(async () => {
  await allPushed(network);
  await network.database.query('truncate catalog.subscription');
  ds.answer(() => undefined);
});

const publish = (catalog: PartialCatalog, directive: Directive = {}) =>
  publishCatalog(provider, catalog, { visibleTo: [retail], ...directive });

describe('a push', () => {
  it('is FULL at first, then one MERGE with only what changed since', async () => {
    await ds.subscribe({ networkIds: [retail] });
    const id = newId();
    await publish({ id, resources: [resource('r1'), resource('r2')], offers: [offer('o1')] });
    const [first] = await ds.waitFor(id, 1);
    expect(first).toMatchObject({ updateMode: 'FULL', resourceIds: ['r1', 'r2'], offerIds: ['o1'] });

    await publish({ id, resources: [resource('r2', 'changed'), resource('r3')] });
    const [, second] = await ds.waitFor(id, 2);
    expect(second).toMatchObject({ updateMode: 'MERGE', resourceIds: ['r2', 'r3'], offerIds: [] });
    expect(ds.copies.get(id)).toEqual((await currentCopies(network, [id])).get(id));
  });

  it('is signed by the service with three lines, names it in the context, and keeps the bppId and bppUri of the catalog', async () => {
    await ds.subscribe({ networkIds: [retail] });
    const id = newId();
    await publish({ id, resources: [resource('r1')] });
    const [push] = await ds.waitFor(id, 1);
    expect(push?.received).toMatchObject({
      path: '/catalog/push',
      signer: network.config.CATALOG_ID,
      chained: false,
      body: {
        context: {
          version: '2.0.0',
          action: 'catalog/push',
          bppId: network.config.CATALOG_ID,
          bppUri: network.catalogUrl,
          messageId: expect.any(String),
          transactionId: expect.any(String),
        },
      },
    });
    expect(push?.catalog).toMatchObject({ bppId: provider.id, bppUri: provider.url });
    expect(push?.received.body.message.publishDirectives).toEqual([
      { catalogId: id, catalogType: 'REGULAR', updateMode: 'FULL', visibleTo: [retail] },
    ]);
  });

  it('is FULL after a publish that removes something', async () => {
    await ds.subscribe({ networkIds: [retail] });
    const id = newId();
    await publish({ id, resources: [resource('r1'), resource('r2')] });
    await ds.waitFor(id, 1);
    await publish({ id, resources: [resource('r2')] }, { updateMode: 'FULL' });
    const [, second] = await ds.waitFor(id, 2);
    expect(second).toMatchObject({ updateMode: 'FULL', resourceIds: ['r2'] });
  });

  it('still has a resource or an offer when only the head of the catalog changed', async () => {
    await ds.subscribe({ networkIds: [retail] });
    const id = newId();
    await publish({ id, offers: [offer('o1'), offer('o2')] });
    await ds.waitFor(id, 1);
    await publish({ id, descriptor: { name: 'New name' }, offers: [offer('o1')] });
    const [, second] = await ds.waitFor(id, 2);
    expect(second).toMatchObject({ updateMode: 'MERGE', offerIds: ['o1'] });
    expect(ds.copies.get(id)).toEqual((await currentCopies(network, [id])).get(id));
  });

  it('carries resources as assembled; a MASTER goes as MASTER, and its change re-pushes what extends it', async () => {
    await ds.subscribe({ networkIds: [retail] });
    const [masterId, id] = [newId(), newId()];
    const template = (power: number) => ({
      id: `template-${masterId}`,
      resourceAttributes: { '@context': charger, '@type': 'Charger', power },
    });
    await publish({ id: masterId, resources: [template(7)] }, { catalogType: 'MASTER' });
    const [master] = await ds.waitFor(masterId, 1);
    expect(master?.received.body.message.publishDirectives).toMatchObject([{ catalogType: 'MASTER' }]);

    const extending = { resourceId: 'r1', extends: { masterResourceId: `template-${masterId}` } };
    await publish({ id, resources: [resource('r1'), resource('r2')] }, { resourceDirectives: [extending] });
    const [first] = await ds.waitFor(id, 1);
    expect(first?.catalog.resources[0].resourceAttributes).toMatchObject({ power: 7 });
    expect(first?.received.body.message.publishDirectives[0].resourceDirectives).toBeUndefined();

    await publish({ id: masterId, resources: [template(22)] }, { catalogType: 'MASTER' });
    const [, second] = await ds.waitFor(id, 2);
    expect(second).toMatchObject({ updateMode: 'MERGE', resourceIds: ['r1'] });
    expect(second?.catalog.resources[0].resourceAttributes).toMatchObject({ power: 22 });
  });

  it('brings several changes as one, and strictly one after the other', async () => {
    await ds.subscribe({ networkIds: [retail] });
    const id = newId();
    const first = gate();
    const most = holdBack(ds, first);
    await publish({ id, resources: [resource('r0')] });
    for (const n of [1, 2, 3, 4, 5]) await publish({ id, resources: [resource(`r${n}`)] });
    first.open();
    await allPushed(network);
    expect(most()).toBe(1);
    expect(ds.pushes.filter(({ catalogId }) => catalogId === id).length).toBeLessThan(6);
    expect(ds.copies.get(id)).toEqual((await currentCopies(network, [id])).get(id));
  });
});

describe('who gets a push', () => {
  it('one per Discovery Service, however many of its subscriptions match, with the networks that those name', async () => {
    await ds.subscribe({ networkIds: [retail] });
    await ds.subscribe({ networkIds: [energy, retail] });
    const id = newId();
    await publish(
      { id, resources: [resource('r1')] },
      { visibleTo: ['c.example/other', energy, retail, 'd.example/more'] },
    );
    await allPushed(network);
    const pushes = await ds.waitFor(id, 1);
    expect(pushes).toHaveLength(1);
    expect(pushes[0]?.visibleTo).toEqual([energy, retail]);
  });

  it('none whose networks or schema types do not match', async () => {
    await ds.subscribe({ networkIds: [energy] });
    await ds.subscribe({ networkIds: [retail], schemaTypes: [charger] });
    const [typed, untyped] = [newId(), newId()];
    await publish({ id: untyped, resources: [resource('r1')] });
    await publish({
      id: typed,
      resources: [{ id: 'r1', resourceAttributes: { '@context': charger, '@type': 'Charger' } }],
    });
    await allPushed(network);
    expect(await ds.waitFor(typed, 1)).toHaveLength(1);
    expect(ds.pushes.filter(({ catalogId }) => catalogId === untyped)).toEqual([]);
  });

  it('none without a subscription, and a new one is not back-filled', async () => {
    const id = newId();
    await publish({ id, resources: [resource('r1')] });
    await allPushed(network);
    await ds.subscribe({ networkIds: [retail] });
    await allPushed(network);
    expect(ds.pushes.filter(({ catalogId }) => catalogId === id)).toEqual([]);
    await publish({ id, resources: [resource('r2')] });
    const [first] = await ds.waitFor(id, 1);
    expect(first).toMatchObject({ updateMode: 'FULL', resourceIds: ['r1', 'r2'] });
  });

  it('none without a url in the registry: the delivery says so, and is looked at again with the next change', async () => {
    const silent = await startReceiver(network, 'silent', { url: null });
    await silent.subscribe({ networkIds: [retail] });
    const id = newId();
    await publish({ id, resources: [resource('r1')] });
    await allPushed(network);
    const { rows } = await network.database.query(
      "select state, last_error from catalog.push where subscriber like 'silent.%'",
    );
    expect(rows).toEqual([
      { state: 'no endpoint', last_error: 'the registry has no url for this subscriber' },
    ]);
    expect(silent.pushes).toEqual([]);

    await network.database.query('update registry.participant set url = $1 where namespace = $2', [
      `${silent.actor.url}/base/`,
      silent.actor.id,
    ]);
    // The registry's answers are cached for a while; a new process asks again.
    await network.restart();
    await publish({ id, resources: [resource('r2')] });
    const [first] = await silent.waitFor(id, 1);
    expect(first).toMatchObject({ updateMode: 'FULL', received: { path: '/base/catalog/push' } });
  });
});

describe('a catalog that goes away', () => {
  it('is pushed once more with isActive false when it is deactivated, and whole when it is active again', async () => {
    await ds.subscribe({ networkIds: [retail] });
    const id = newId();
    await publish({ id, resources: [resource('r1'), resource('r2')] });
    await ds.waitFor(id, 1);
    await publish({ id, isActive: false, resources: [resource('r1', 'changed')] });
    const [, withdrawal] = await ds.waitFor(id, 2);
    expect(withdrawal).toMatchObject({ updateMode: 'MERGE', visibleTo: [retail] });
    expect(withdrawal?.catalog).toMatchObject({ id, isActive: false });
    expect(withdrawal?.resourceIds).toEqual(['r2']);

    await publish({ id, resources: [resource('r3')] });
    await allPushed(network);
    expect(await ds.waitFor(id, 2)).toHaveLength(2);

    await publish({ id, isActive: true, resources: [resource('r1', 'changed')] });
    const [, , again] = await ds.waitFor(id, 3);
    expect(again).toMatchObject({ updateMode: 'FULL', resourceIds: ['r1', 'r2', 'r3'] });
    expect(ds.copies.get(id)).toEqual((await currentCopies(network, [id])).get(id));
  });

  it('is pushed once more with isActive false when it leaves the networks of the subscriptions', async () => {
    await ds.subscribe({ networkIds: [retail] });
    const id = newId();
    await publish({ id, resources: [resource('r1')] });
    await ds.waitFor(id, 1);
    await publish({ id, resources: [resource('r1')] }, { visibleTo: [energy] });
    const [, withdrawal] = await ds.waitFor(id, 2);
    expect(withdrawal).toMatchObject({
      updateMode: 'MERGE',
      visibleTo: [retail],
      catalog: { isActive: false },
    });

    await publish({ id, resources: [resource('r1', 'secret')] }, { visibleTo: [energy] });
    await allPushed(network);
    expect(await ds.waitFor(id, 2)).toHaveLength(2);

    await publish({ id, resources: [resource('r1', 'open')] }, { visibleTo: [energy, retail] });
    const [, , again] = await ds.waitFor(id, 3);
    expect(again).toMatchObject({ updateMode: 'FULL', visibleTo: [retail] });
    expect(ds.copies.get(id)).toEqual((await currentCopies(network, [id])).get(id));
  });

  it('gives away nothing of what it became in the same step in which it left', async () => {
    await ds.subscribe({ networkIds: [retail] });
    const [replaced, kept] = [newId(), newId()];
    await publish({ id: replaced, resources: [resource('r1')] });
    await publish({ id: kept, resources: [resource('r1'), resource('r2')] });
    await Promise.all([ds.waitFor(replaced, 1), ds.waitFor(kept, 1)]);
    const secret = {
      descriptor: { name: 'secret' },
      provider: { id: 'secret', descriptor: { name: 'secret' } },
    };
    const moved: Directive = { visibleTo: [energy], updateMode: 'FULL' };
    await publish({ id: replaced, ...secret, resources: [resource('secret')] }, moved);
    await publish({ id: kept, ...secret, resources: [resource('r1', 'secret'), resource('r2')] }, moved);

    const [, bare] = await ds.waitFor(replaced, 2);
    expect(bare).toMatchObject({ updateMode: 'MERGE', catalog: { isActive: false }, offerIds: [] });
    expect(bare?.catalog.resources).toEqual([{ id: replaced }]);
    const [, withdrawal] = await ds.waitFor(kept, 2);
    expect(withdrawal).toMatchObject({ catalog: { isActive: false }, resourceIds: ['r2'] });
    for (const push of [bare, withdrawal]) {
      expect(push?.received.raw.toString()).not.toMatch(/secret|energy/);
      expect(push?.catalog.bppId).toBe(provider.id);
    }
  });

  it('is not told to whom never acknowledged it, nor to whom has no subscription left', async () => {
    const [never, left] = [await startReceiver(network, 'never'), await startReceiver(network, 'left')];
    never.answer(() => ({ status: 503 }));
    await never.subscribe({ networkIds: [retail] });
    const subscriptionId = await left.subscribe({ networkIds: [retail] });
    const id = newId();
    await publish({ id, resources: [resource('r1')] });
    await Promise.all([never.waitFor(id, 1), left.waitFor(id, 1)]);
    const { status } = await left.actor.send(actions.unsubscribe, undefined, { query: { subscriptionId } });
    expect(status).toBe(200);
    await publish({ id, isActive: false, resources: [resource('r1')] });
    await allPushed(network);
    expect([...never.pushes, ...left.pushes].filter(({ catalog }) => catalog.isActive === false)).toEqual([]);
  });
});
