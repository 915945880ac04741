import type { Attributes, Catalog, Offer } from '../protocol/catalog.ts';
import { schemaIdentity } from './schema-address.ts';

// Which catalogs a Discovery Service gets: those whose networks and schema types match one of its subscriptions (catalog spec: Subscription). Network ids are compared as text.

/** The criteria of a subscription; omitted or empty means all. */
export interface Interest {
  networkIds?: readonly string[];
  /** All of their names (schema-address.ts). */
  schemaTypes?: readonly string[];
}

export interface Matchable {
  networkIds: readonly string[];
  schemaTypes: ReadonlySet<string>;
}

export function matchesInterest(interest: Interest, catalog: Matchable): boolean {
  return (
    matchesAny(interest.networkIds, (networkId) => catalog.networkIds.includes(networkId)) &&
    matchesAny(interest.schemaTypes, (schemaType) => catalog.schemaTypes.has(schemaType))
  );
}

/** The networks of a catalog that a subscriber may see: those that its matching subscriptions name. None: the catalog is not for this subscriber. */
export function networksFor(interests: readonly Interest[], catalog: Matchable): string[] {
  const matching = interests.filter((interest) => matchesInterest(interest, catalog));
  return catalog.networkIds.filter((networkId) =>
    matching.some(({ networkIds }) => matchesAny(networkIds, (asked) => asked === networkId)),
  );
}

/** The schema types of a catalog: the `@context` of resource, offer and consideration attributes, alone and with `#` and the `@type`. */
export function schemaTypesOf({ resources = [], offers = [] }: Pick<Catalog, 'resources' | 'offers'>) {
  return new Set([...resources.flatMap(schemaTypesOfResource), ...offers.flatMap(schemaTypesOfOffer)]);
}

export function schemaTypesOfResource({ resourceAttributes }: { resourceAttributes?: Named }): string[] {
  return namesOf(resourceAttributes);
}

export function schemaTypesOfOffer({ offerAttributes, considerations = [] }: Offer): string[] {
  return [offerAttributes, ...considerations.map((item) => item.considerationAttributes)].flatMap(namesOf);
}

type Named = Pick<Attributes, '@context' | '@type'>;

function namesOf(attributes: Named | undefined): string[] {
  if (attributes === undefined) return [];
  const { '@context': context, '@type': type } = attributes;
  return [schemaIdentity(context), schemaIdentity(`${context}#${type}`)];
}

function matchesAny(asked: readonly string[] | undefined, isThere: (text: string) => boolean): boolean {
  return asked === undefined || asked.length === 0 || asked.some(isThere);
}
