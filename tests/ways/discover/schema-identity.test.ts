import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { actions } from '../../../src/protocol/actions.ts';
import type { Resource } from '../../../src/protocol/catalog.ts';
import { catalog, charger } from '../../support/catalogs/sample-catalogs.ts';
import type { Actor, Received } from '../../support/network/actor.ts';
import { type Discovering, filter, startDiscovering } from '../../support/network/discover.ts';
import { publish } from '../../support/network/publish.ts';
import { pull, subscribe } from '../../support/network/subscriptions.ts';

// Two addresses of one schema are equivalent in all requests that name schemas (protocol decision: domain schemas).

const asPublished = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';
const asked =
  'https://raw.githubusercontent.com/beckn/schemas/refs/heads/main/schema/EnergyResourceEVCharger/v1.1';
const other = asked.replace('v1.1', 'v1.0');

let discovering: Discovering;
let actor: Actor;

beforeAll(async () => {
  discovering = await startDiscovering();
  actor = await discovering.network.actor('subscriber');
  await publish(actor, catalog('chargers', { resources: [charger('c1')] }));
});
afterAll(() => discovering?.network.close());

const ids = ({ catalogs }: { catalogs: { id: string }[] }) => catalogs.map(({ id }) => id);

it('A subscription and its pulls match by schema identity, and it is shown as it was asked for', async () => {
  const subscriptionId = await subscribe(actor, { schemaTypes: [asked, `${asked}#EnergyResourceEVCharger`] });
  expect(ids(await pull(actor, { subscriptionId }))).toEqual(['chargers']);
  const { body } = await actor.send(actions.listSubscriptions, undefined, { query: { subscriptionId } });
  expect(body.message.subscriptions[0].schemaTypes).toContain(asked);
  expect(
    ids(await pull(actor, { subscriptionId: await subscribe(actor, { schemaTypes: [other] }) })),
  ).toEqual([]);
});

it('A search finds by schema identity', async () => {
  const found = async (schemaTypes: string[]) => {
    const { body } = await actor.send(actions.search, { filters: { type: 'REGULAR', schemaTypes } });
    return ids(body.message);
  };
  expect(await found([asked])).toEqual(['chargers']);
  expect(await found([other])).toEqual([]);
});

it('A discover is narrowed by schema identity', async () => {
  await discovering.hold([{ id: 'held', resources: [charger('c1')] }]);
  const question = filter("$.catalogs[*].resources[?@.id == 'c1']");
  const { message } = await discovering.found(question, { schemaContext: [asked] });
  expect(message.catalogs[0].resources[0].resourceAttributes['@context']).toBe(asPublished);
  expect(await discovering.discover(question, { schemaContext: [other] })).toMatchObject({ status: 202 });
});

describe('SCHEMA_ALIASES', () => {
  const mirror = 'https://mirror.example/schemas';
  const mirrored = (id: string) => {
    const resource = charger(id);
    const context = `${mirror}/EnergyResourceEVCharger/1.1`;
    return {
      ...resource,
      resourceAttributes: { ...resource.resourceAttributes, '@context': context },
    } as Resource;
  };

  it('counts from the next start on, for what was published and subscribed to before', async () => {
    const { network } = discovering;
    const subscriptionId = await subscribe(actor, { schemaTypes: [asked] });
    await publish(actor, catalog('mirrored', { resources: [mirrored('m1')] }));
    await discovering.hold([{ id: 'held-mirrored', resources: [mirrored('m1')] }]);
    const question = filter("$.catalogs[*].resources[?@.id == 'm1']");
    expect(ids(await pull(actor, { subscriptionId }))).not.toContain('mirrored');
    expect(await discovering.discover(question, { schemaContext: [asked] })).toMatchObject({ status: 202 });

    const settings = readConfig({ SCHEMA_ALIASES: JSON.stringify({ [mirror]: 'https://schema.beckn.io' }) });
    await network.restart(async () => {
      Object.assign(network.config, { SCHEMA_ALIASES: settings.SCHEMA_ALIASES });
    });
    expect(ids(await pull(actor, { subscriptionId }))).toContain('mirrored');
    const filters = { type: 'REGULAR', schemaTypes: [asked] };
    expect(ids((await actor.send(actions.search, { filters })).body.message)).toContain('mirrored');
    const { message } = await discovering.found(question, { schemaContext: [asked] });
    expect(ids(message)).toEqual(['held-mirrored']);
    expect(message.catalogs[0].resources[0].resourceAttributes['@context']).toContain(mirror);
  });

  it('lets a push through to who subscribed to the schema under its other address', async () => {
    await publish(actor, catalog('pushed-mirrored', { resources: [mirrored('m2')] }));
    const isIt = ({ body }: Received) => body.message.catalogs[0].id === 'pushed-mirrored';
    expect((await actor.waitFor('catalog/push', isIt)).body.message.catalogs).toHaveLength(1);
  });
});
