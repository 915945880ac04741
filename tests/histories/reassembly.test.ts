import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.ts';
import { startProcess } from '../../src/main.ts';
import { actions } from '../../src/protocol/actions.ts';
import type { Catalog } from '../../src/protocol/catalog.ts';
import { findCatalog } from '../../src/storage/catalog/catalogs.ts';
import { listChanges } from '../../src/storage/catalog/change-log.ts';
import { holdMasters } from '../../src/storage/catalog/masters.ts';
import {
  coffee,
  coffeeContext,
  energy,
  extending,
  publishExtending,
  publishMaster,
  rebuilt,
  retail,
  servedResource,
  startMasterNetwork,
  storedOwn,
} from '../support/catalogs/masters.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import { freePort } from '../support/free-port.ts';
import type { Actor, Body } from '../support/network/actor.ts';
import type { TestNetwork } from '../support/network/network.ts';
import { type Directive, publish, served } from '../support/network/publish.ts';
import { watchFor } from '../support/time.ts';

// Dependents after a change of their master: the template's value wins, and the published value remains stored.

let network: TestNetwork;
let facilitator: Actor;
let provider: Actor;
let rival: Actor;

beforeAll(async () => {
  ({ network, facilitator, provider, rival } = await startMasterNetwork());
});
afterAll(() => network.close());

async function versionOf(catalogId: string): Promise<number | undefined> {
  return (await findCatalog(network.database, catalogId))?.version;
}

describe('a new version of a master', () => {
  it('assembles anew what extends it, in the catalogs of every publisher', async () => {
    await publishMaster(
      facilitator,
      catalog('m1', { resources: [coffee('t1', { roast: 'light' }, { name: 'Old' })] }),
    );
    for (const as of [provider, rival]) {
      const one = catalog(`of-m1-${as.id}`, { resources: [{ id: 'r' }, plain('p')] });
      const resourceDirectives = [extending('r', 't1')];
      await publish(as, one, { visibleTo: [retail], resourceDirectives });
    }
    await publishMaster(
      facilitator,
      catalog('m1', { resources: [coffee('t1', { roast: 'dark', decaf: true }, { name: 'New' })] }),
    );
    await rebuilt(network.database);
    for (const as of [provider, rival]) {
      const id = `of-m1-${as.id}`;
      expect(await servedResource(network.database, id, 'r')).toEqual({
        ...coffee('t1', { roast: 'dark', decaf: true }, { name: 'New' }),
        id: 'r',
      });
      const row = await findCatalog(network.database, id);
      expect(row).toMatchObject({ version: 2, fullVersion: 1 });
      const { rows } = await network.database.query(
        'select id, changed_version from catalog.resource where catalog_key = $1 order by id',
        [row?.key],
      );
      expect(rows).toEqual([
        { id: 'p', changed_version: 1 },
        { id: 'r', changed_version: 2 },
      ]);
      expect(await listChanges(network.database, row?.key ?? 0, 1)).toMatchObject([
        {
          version: 2,
          kind: 'reassembled',
          publisher: `${as.id}/subscribers.beckn.one`,
          submissionId: null,
        },
      ]);
    }
  });

  it('prevails over a value that a dependent had set before; the own one stays stored, and returns when the template drops its', async () => {
    await publishMaster(facilitator, catalog('m2', { resources: [coffee('t2', { roast: 'light' })] }));
    const own = coffee('r', { origin: 'Kenya' });
    await publishExtending(provider, catalog('of-m2', { resources: [own] }), 't2');

    await publishMaster(
      facilitator,
      catalog('m2', { resources: [coffee('t2', { roast: 'light', origin: 'Brazil' })] }),
    );
    await rebuilt(network.database);
    expect((await servedResource(network.database, 'of-m2', 'r')).resourceAttributes).toMatchObject({
      origin: 'Brazil',
    });
    expect(await storedOwn(network.database, 'of-m2', 'r')).toEqual(own);

    await publishMaster(facilitator, catalog('m2', { resources: [coffee('t2', { roast: 'light' })] }));
    await rebuilt(network.database);
    expect((await servedResource(network.database, 'of-m2', 'r')).resourceAttributes).toMatchObject({
      origin: 'Kenya',
    });
  });

  it('that drops the resource leaves dependents what they inherited last, and rejects new ones', async () => {
    await publishMaster(
      facilitator,
      catalog('m3', { resources: [coffee('t3', { roast: 'light' }), coffee('t3-other')] }),
    );
    await publishExtending(provider, catalog('of-m3', { resources: [plain('r')] }), 't3');
    await publishMaster(facilitator, catalog('m3', { resources: [coffee('t3-other')] }), {
      updateMode: 'FULL',
    });
    await rebuilt(network.database);
    expect((await servedResource(network.database, 'of-m3', 'r')).resourceAttributes).toMatchObject({
      roast: 'light',
    });
    expect(await versionOf('of-m3')).toBe(1);

    const newcomer = catalog('of-m3', { resources: [plain('newcomer')] });
    expect(await publishExtending(provider, newcomer, 't3')).toMatchObject({
      status: 'REJECTED',
      errors: [{ code: 'BIZ_GENERIC_ERROR' }],
    });
    const renamed = catalog('of-m3', { resources: [plain('r', 'renamed')] });
    expect(await publish(provider, renamed, { visibleTo: [retail] })).toMatchObject({ status: 'ACCEPTED' });
    expect(await servedResource(network.database, 'of-m3', 'r')).toMatchObject({
      descriptor: { name: 'renamed' },
      resourceAttributes: { roast: 'light' },
    });

    await publishMaster(facilitator, catalog('m3', { resources: [coffee('t3', { roast: 'back again' })] }));
    await rebuilt(network.database);
    expect((await servedResource(network.database, 'of-m3', 'r')).resourceAttributes).toMatchObject({
      roast: 'back again',
    });
  });

  it('that does not touch the template gives its dependents no new version', async () => {
    await publishMaster(facilitator, catalog('m4', { resources: [coffee('t4')] }));
    await publishExtending(provider, catalog('of-m4', { resources: [plain('r')] }), 't4');
    await publishMaster(facilitator, catalog('m4', { resources: [coffee('t4-other')] }));
    await rebuilt(network.database);
    expect(await versionOf('m4')).toBe(2);
    expect(await versionOf('of-m4')).toBe(1);
    const { rows } = await network.database.query(
      "select master_version from catalog.resource join catalog.catalog on key = catalog_key where catalog.id = 'of-m4'",
    );
    expect(rows).toEqual([{ master_version: 2 }]);
  });

  it('changes the schema types of its dependents with the template', async () => {
    await publishMaster(facilitator, catalog('m5', { resources: [{ id: 't5' }] }));
    await publishExtending(provider, catalog('of-m5', { resources: [plain('r')] }), 't5');
    const found = async () => {
      const { body } = await provider.send(actions.search, {
        filters: { type: 'REGULAR', schemaTypes: [`${coffeeContext}#NewCoffee`] },
      });
      return body.message.catalogs.map(({ id }: Body) => id);
    };
    expect(await found()).toEqual([]);
    await publishMaster(facilitator, catalog('m5', { resources: [coffee('t5', { '@type': 'NewCoffee' })] }));
    await rebuilt(network.database);
    expect(await found()).toEqual(['of-m5']);
  });

  it('reaches more dependents than are assembled at once', async () => {
    const count = 1_200;
    await publishMaster(facilitator, catalog('m6', { resources: [coffee('t6', { roast: 'light' })] }));
    const resources = Array.from({ length: count }, (_, index) => plain(`r${index}`));
    await publishExtending(provider, catalog('of-m6', { resources }), 't6');
    await publishMaster(facilitator, catalog('m6', { resources: [coffee('t6', { roast: 'dark' })] }));
    await rebuilt(network.database);
    const all: Body[] = (await served(network.database, 'of-m6')).resources;
    expect(all).toHaveLength(count);
    expect(all.filter(({ resourceAttributes }) => resourceAttributes.roast !== 'dark')).toEqual([]);
    expect(await findCatalog(network.database, 'of-m6')).toMatchObject({
      resourceCount: count,
      schemaUses: { [coffeeContext]: count, [`${coffeeContext}#Coffee`]: count },
    });
  });

  it('that is for other networks leaves dependents what they inherited last', async () => {
    const leaver = (roast: string, visibleTo: string[]) =>
      publishMaster(facilitator, catalog('m7', { resources: [coffee('t7', { roast })] }), { visibleTo });
    const roast = async () => (await servedResource(network.database, 'of-m7', 'r')).resourceAttributes.roast;
    await leaver('light', [retail]);
    await publishExtending(provider, catalog('of-m7', { resources: [{ id: 'r' }] }), 't7');
    await leaver('dark', [energy]);
    await rebuilt(network.database);
    expect(await roast()).toBe('light');
    await leaver('medium', [energy, retail]);
    await rebuilt(network.database);
    expect(await roast()).toBe('medium');
  });

  it('reaches dependents that came from the same template of another master', async () => {
    const same = coffee('t8', { roast: 'light' });
    await publishMaster(facilitator, catalog('m8-retail', { resources: [same] }));
    await publishMaster(rival, catalog('m8-energy', { resources: [same] }), { visibleTo: [energy] });
    const one = catalog('of-m8', { resources: [{ id: 'r' }] });
    for (const networkId of [retail, energy])
      await publishExtending(provider, one, 't8', { visibleTo: [networkId] });
    const next = catalog('m8-energy', { resources: [coffee('t8', { roast: 'dark' })] });
    await publishMaster(rival, next, { visibleTo: [energy] });
    await rebuilt(network.database);
    expect((await servedResource(network.database, 'of-m8', 'r')).resourceAttributes.roast).toBe('dark');
  });
});

describe('a master and its dependents that are published at the same moment', () => {
  /** In each round, all of them are published at once, each to one of the processes. */
  async function race(name: string, urls: readonly string[], rounds: number): Promise<void> {
    const template = (round: number) => coffee(`${name}-template`, { round });
    const send = (as: Actor, one: Catalog, directive: Directive, turn: number) =>
      publish(as, one, { visibleTo: [retail], ...directive }, { to: urls[turn % urls.length] });
    const sendMaster = (round: number) =>
      send(
        facilitator,
        catalog(`${name}-master`, { resources: [template(round)] }),
        { catalogType: 'MASTER' },
        round,
      );
    const sendDependent = (as: Actor, round: number, turn: number) => {
      const resources = [plain('again', `round ${round}`), plain(`new-${round}`)];
      const resourceDirectives = resources.map(({ id }) => extending(id, template(round).id));
      return send(as, catalog(`${name}-${as.id}`, { resources }), { resourceDirectives }, turn);
    };

    await sendMaster(0);
    for (let round = 1; round <= rounds; round += 1) {
      const dependents = [provider, rival].map((as, index) => sendDependent(as, round, round + index));
      await Promise.all([sendMaster(round), ...dependents]);
      await rebuilt(network.database);
      for (const as of [provider, rival]) {
        const { resources } = await served(network.database, `${name}-${as.id}`);
        const assembledWith = resources.map(({ resourceAttributes }: Body) => resourceAttributes.round);
        expect(assembledWith).toEqual(Array.from({ length: round + 1 }, () => round));
      }
    }
  }

  it('end assembled with the latest template, thirty times', async () => {
    await race('one-process', [network.catalogUrl], 30);
  });

  it('come one after the other: a master does not change while a dependent is assembled with it', async () => {
    const version = (number: number) =>
      publishMaster(facilitator, catalog('held', { resources: [coffee('held-template', { number })] }));
    await version(1);
    let next: Promise<unknown> | undefined;
    await network.database.transaction(async (dependent) => {
      await holdMasters(dependent, ['held-template']);
      next = version(2);
      await watchFor(500);
      expect(await versionOf('held')).toBe(1);
    });
    await next;
    expect(await versionOf('held')).toBe(2);
  });

  it('end so with two processes on one database', async () => {
    const port = await freePort();
    const second = await startProcess(
      { ...network.config, roles: ['catalog'], CATALOG_PORT: port },
      { logger: silentLogger() },
    );
    const urls = [network.catalogUrl, `http://127.0.0.1:${port}`];
    await race('two-processes', urls, 20).finally(() => second.close());
  });
});
