import type { Catalog, Resource } from '../protocol/catalog.ts';
import type { PublishDirective, PublishMessage } from '../protocol/publish-messages.ts';
import { kaveriCatalogs, minchuCatalogs, voltpathCatalogs } from './charging.ts';
import { masterCatalog, shopCatalogs } from './groceries.ts';

// The participants of the demo network besides the roles, and their catalogs. Three things are wrong on purpose: a bay in the catalog of
// HSR Layout names an unknown connector, a file of Minchu is changed after signing, and nothing listens at the address of Atlas.

/** These two have no address in the registry, so they may receive callbacks at any port. */
export const facilitatorId = 'facilitator.signpost.test';
export const grocerId = 'grocer.signpost.test';
/** Voltpath. `signpost send --as provider.signpost.test` signs with its key. */
export const providerId = 'provider.signpost.test';
/** Minchu, whose files are at DEMO_PORT. */
export const secondPublisherId = 'minchu.signpost.test';
/** A discovery service that is down. */
export const downDiscoveryId = 'atlas.signpost.test';
/** The discard port: nothing has listened there for decades. */
export const downDiscoveryUrl = 'http://127.0.0.1:9';

export interface SignedPublish {
  as: string;
  message: PublishMessage;
}

/** The publishes through the catalog service, in this order: the catalogs of the shops extend the master catalog. */
export function servicePublishes(networkId: string): SignedPublish[] {
  const master = masterCatalog();
  const directive = { catalogId: master.id, catalogType: 'MASTER' as const, visibleTo: [networkId] };
  return [
    { as: facilitatorId, message: { catalogs: [master], publishDirectives: [directive] } },
    { as: grocerId, message: shopCatalogs(networkId) },
    { as: providerId, message: regular(voltpathCatalogs(), networkId) },
  ];
}

export function publisherMessage(networkId: string): PublishMessage {
  return regular(kaveriCatalogs(), networkId);
}

export function secondPublisherMessage(networkId: string): { message: PublishMessage; tamperedId: string } {
  const [sound, tampered] = minchuCatalogs();
  return { message: regular([sound, tampered], networkId), tamperedId: tampered.id };
}

/** The status of one charger of the second node, occupied or free, that its operator reports in this turn. */
export function nextStatus(networkId: string, turn: number): PublishMessage {
  const [{ resources = [], offers: _offers, ...head }] = minchuCatalogs();
  const charger = resources[turn % resources.length];
  const status = Math.floor(turn / resources.length) % 2 === 0 ? 'CHARGING' : 'AVAILABLE';
  const attributes = { ...Object(charger?.resourceAttributes?.attributes), availability: { status } };
  const changed = { ...charger, resourceAttributes: { ...charger?.resourceAttributes, attributes } };
  return regular([{ ...head, resources: [changed as Resource] }], networkId, { updateMode: 'MERGE' });
}

function regular(
  catalogs: Catalog[],
  networkId: string,
  more: Partial<PublishDirective> = {},
): PublishMessage {
  const directive = { catalogType: 'REGULAR' as const, visibleTo: [networkId], ...more };
  return { catalogs, publishDirectives: catalogs.map(({ id: catalogId }) => ({ catalogId, ...directive })) };
}
