import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { findCatalog, releaseCatalog } from '../../../src/storage/catalog/catalogs.ts';
import {
  coffee,
  energy,
  extending,
  publishExtending,
  publishMaster,
  retail,
  servedResource,
  startMasterNetwork,
} from '../../support/catalogs/masters.ts';
import { catalog, charger, chargerContext, offer, plain } from '../../support/catalogs/sample-catalogs.ts';
import type { Actor, Body } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type Directive, served } from '../../support/network/publish.ts';

// MASTER catalogs: who may publish them, their valid content, and which catalog owns a master resource id.

let network: TestNetwork;
let facilitator: Actor;
let provider: Actor;
let rival: Actor;

beforeAll(async () => {
  ({ network, facilitator, provider, rival } = await startMasterNetwork());
});
afterAll(() => network.close());

describe('a MASTER catalog', () => {
  it('is found as such by search, where MASTER is the default', async () => {
    expect(
      await publishMaster(facilitator, catalog('found', { resources: [coffee('found-1')] })),
    ).toMatchObject({
      status: 'ACCEPTED',
      stats: { itemCount: 1, providerCount: 1, categoryCount: 1 },
    });
    const { body } = await provider.send(actions.search, { limit: 100 });
    expect(body.message.catalogs.map(({ id }: Body) => id)).toContain('found');
  });

  it('BIZ_GENERIC_ERROR: with offers is REJECTED', async () => {
    const one = catalog('with-offers', { resources: [coffee('with-offers-1')], offers: [offer('o')] });
    expect(await publishMaster(facilitator, one)).toMatchObject({
      status: 'REJECTED',
      errors: [{ code: 'BIZ_GENERIC_ERROR', details: { path: '$.message.catalogs[0].offers' } }],
    });
    expect(await served(network.database, 'with-offers')).toBeUndefined();
  });

  it('SCH_SCHEMA_VALIDATION_FAILED: with resourceDirectives is refused at once', async () => {
    const { status, body } = await facilitator.send(actions.publish, {
      catalogs: [catalog('directed', { resources: [coffee('directed-1')] })],
      publishDirectives: [
        {
          catalogId: 'directed',
          catalogType: 'MASTER',
          resourceDirectives: [extending('directed-1', 'found-1')],
        },
      ],
    });
    expect({ status, code: body.message.error.code }).toEqual({
      status: 400,
      code: 'SCH_SCHEMA_VALIDATION_FAILED',
    });
  });

  it('may leave typed attributes incomplete, and may not have wrong ones', async () => {
    const typed = { '@context': chargerContext, '@type': 'EnergyResourceEVCharger' };
    const incomplete = {
      id: 'type2',
      resourceAttributes: { ...typed, attributes: { connectorType: 'Type2' } },
    };
    const wrong = {
      id: 'wooden',
      resourceAttributes: { ...typed, attributes: { connectorType: 'Wooden' } },
    };
    const result = await publishMaster(
      facilitator,
      catalog('typed-master', { resources: [incomplete, wrong] }),
    );
    const path = '$.message.catalogs[0].resources[1].resourceAttributes.attributes.connectorType';
    expect(result).toMatchObject({
      status: 'PARTIAL',
      stats: { itemCount: 1 },
      errors: [{ code: 'SCH_SCHEMA_VALIDATION_FAILED', details: { path } }],
    });
    expect(result.errors).toHaveLength(1);

    const complete = charger('c1', { connectorType: 'Type2' });
    const lacking = { id: 'c2', descriptor: { name: 'lacks id and type' } };
    const dependents = await publishExtending(
      provider,
      catalog('typed-regular', { resources: [complete, lacking] }),
      'type2',
    );
    expect(dependents).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 1 } });
    expect(dependents.errors[0]).toMatchObject({
      code: 'SCH_SCHEMA_VALIDATION_FAILED',
      details: {
        path: expect.stringMatching(/^\$\.message\.catalogs\[0\]\.resources\[1\]\.resourceAttributes/),
      },
    });
  });
});

describe('a master resource id', () => {
  it('BIZ_GENERIC_ERROR: belongs to its first publisher, and is rejected in the MASTER of another', async () => {
    await publishMaster(facilitator, catalog('first', { resources: [coffee('owned')] }));
    const one = catalog('second', { resources: [coffee('owned'), coffee('second-1')] });
    expect(await publishMaster(rival, one, {})).toMatchObject({
      status: 'PARTIAL',
      stats: { itemCount: 1 },
      errors: [{ code: 'BIZ_GENERIC_ERROR', details: { path: '$.message.catalogs[0].resources[0].id' } }],
    });
    expect((await served(network.database, 'second')).resources).toEqual([coffee('second-1')]);
  });

  it('can be used by another publisher in another network', async () => {
    await publishMaster(
      facilitator,
      catalog('here', { resources: [coffee('used-twice', { from: 'here' })] }),
    );
    const there = catalog('there', { resources: [coffee('used-twice', { from: 'there' })] });
    expect(await publishMaster(rival, there, { visibleTo: [energy] })).toMatchObject({ status: 'ACCEPTED' });
    for (const [networkId, from] of [
      [retail, 'here'],
      [energy, 'there'],
    ] as const) {
      const id = `uses-${from}`;
      await publishExtending(provider, catalog(id, { resources: [plain('r')] }), 'used-twice', {
        visibleTo: [networkId],
      });
      expect((await servedResource(network.database, id, 'r')).resourceAttributes).toMatchObject({ from });
    }
  });

  it('BIZ_GENERIC_ERROR: cannot follow its catalog into a network where it is the id of another publisher', async () => {
    await publishMaster(facilitator, catalog('stays', { resources: [coffee('met')] }));
    await publishMaster(rival, catalog('moves', { resources: [coffee('met')] }), { visibleTo: [energy] });
    const wider = { visibleTo: [energy, retail] };
    const again = catalog('moves', { resources: [coffee('met')] });
    expect(await publishMaster(rival, again, { ...wider, updateMode: 'FULL' })).toMatchObject({
      status: 'REJECTED',
      errors: [{ code: 'BIZ_GENERIC_ERROR', details: { path: '$.message.catalogs[0].resources[0].id' } }],
    });
    const other = catalog('moves', { resources: [coffee('moves-1')] });
    expect(await publishMaster(rival, other, wider)).toMatchObject({
      status: 'REJECTED',
      errors: [{ code: 'BIZ_GENERIC_ERROR', details: { path: '$.message.publishDirectives[0].visibleTo' } }],
    });
    expect((await findCatalog(network.database, 'moves'))?.visibleTo).toEqual([energy]);
    expect(await publishMaster(rival, other, { ...wider, updateMode: 'FULL' })).toMatchObject({
      status: 'ACCEPTED',
    });
  });

  it('of two MASTER catalogs that are published at the same moment goes to one of them', async () => {
    for (let round = 0; round < 10; round += 1) {
      const racing = (name: string) =>
        catalog(`${name}-${round}`, {
          resources: [coffee(`raced-${round}`), coffee(`${name}-${round}-own`)],
        });
      const results = await Promise.all([
        publishMaster(facilitator, racing('one')),
        publishMaster(rival, racing('other'), {}),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['ACCEPTED', 'PARTIAL']);
    }
  });

  it('is free again when an operator has released its catalog', async () => {
    await publishMaster(
      facilitator,
      catalog('released', { resources: [coffee('freed'), coffee('freed-too')] }),
    );
    await network.database.transaction((tx) => releaseCatalog(tx, 'released'));
    const takenOver = catalog('released', { resources: [coffee('freed', { owner: 'rival' })] });
    expect(await publishMaster(rival, takenOver, {})).toMatchObject({ status: 'ACCEPTED' });
    expect(await served(network.database, 'released')).toMatchObject({
      bppId: rival.id,
      resources: [coffee('freed', { owner: 'rival' })],
    });
    const elsewhere = catalog('elsewhere', { resources: [coffee('freed-too')] });
    expect(await publishMaster(facilitator, elsewhere)).toMatchObject({ status: 'ACCEPTED' });
  });
});

describe('who may publish what where', () => {
  let strict: TestNetwork;
  let listed: Actor;
  let unlisted: Actor;

  beforeAll(async () => {
    strict = await startNetwork({
      settings: { MASTER_PUBLISHERS: 'listed.signpost.test', NETWORK_MEMBERSHIP: 'enforce' },
    });
    listed = await strict.actor('listed', { networks: [retail] });
    unlisted = await strict.actor('unlisted', { networks: [retail] });
  });
  afterAll(() => strict.close());

  const attempt = async (as: Actor, directive?: Directive) => {
    const { status, body } = await as.send(actions.publish, {
      catalogs: [catalog('c', { resources: [coffee('c-1')] })],
      publishDirectives: directive && [{ catalogId: 'c', catalogType: 'REGULAR', ...directive }],
    });
    return { ...body.message, status };
  };

  it('AUT_UNAUTHORIZED_ACTION: a MASTER from somebody whom MASTER_PUBLISHERS does not list is refused', async () => {
    const master: Directive = { catalogType: 'MASTER', visibleTo: [retail] };
    expect(await attempt(unlisted, master)).toMatchObject({
      status: 403,
      error: {
        code: 'AUT_UNAUTHORIZED_ACTION',
        details: { path: '$.message.publishDirectives[0].catalogType' },
      },
    });
    expect(await attempt(listed, master)).toMatchObject({ status: 200 });
  });

  it('AUT_UNAUTHORIZED_ACTION: by default a MASTER is for the facilitator of every network that it is visible to', async () => {
    const usual = await startNetwork({ settings: { MASTER_PUBLISHERS: '' } });
    try {
      const facilitating = await usual.actor('facilitating');
      const below = await usual.actor('below.facilitating');
      const own = ['facilitating.signpost.test/retail', 'facilitating.signpost.test/energy'];
      const asMaster = (as: Actor, visibleTo?: string[]) =>
        attempt(as, { catalogType: 'MASTER', ...(visibleTo && { visibleTo }) });
      expect(await asMaster(facilitating, own)).toMatchObject({ status: 200 });
      expect(await asMaster(facilitating, [...own, retail])).toMatchObject({
        status: 403,
        error: {
          code: 'AUT_UNAUTHORIZED_ACTION',
          message: expect.stringContaining(`may not publish MASTER catalogs in ${retail}`),
        },
      });
      expect(await asMaster(facilitating)).toMatchObject({ status: 403 });
      expect(await asMaster(below, own)).toMatchObject({ status: 403 });
    } finally {
      await usual.close();
    }
  });

  it('AUT_DOMAIN_NOT_ALLOWED: with NETWORK_MEMBERSHIP=enforce a network that the publisher is no member of is refused', async () => {
    expect(await attempt(unlisted, { visibleTo: [retail, energy] })).toMatchObject({
      status: 403,
      error: {
        code: 'AUT_DOMAIN_NOT_ALLOWED',
        details: { path: '$.message.publishDirectives[0].visibleTo' },
      },
    });
  });

  it('AUT_DOMAIN_NOT_ALLOWED: also when it is the default network', async () => {
    expect(await attempt(unlisted)).toMatchObject({
      status: 403,
      error: { code: 'AUT_DOMAIN_NOT_ALLOWED', details: { path: '$.message.catalogs[0]' } },
    });
  });
});
