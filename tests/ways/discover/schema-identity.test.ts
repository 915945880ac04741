import { afterAll, beforeAll, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { catalog, charger } from '../../support/catalogs/sample-catalogs.ts';
import type { Actor } from '../../support/network/actor.ts';
import { type Discovering, filter, startDiscovering } from '../../support/network/discover.ts';
import { publish } from '../../support/network/publish.ts';
import { pull, subscribe } from '../../support/network/subscriptions.ts';

// Two addresses of one schema mean the same wherever schemas are asked for (protocol decision: domain schemas).

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
