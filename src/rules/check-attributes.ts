import type { Catalog, Offer, OfferProvider, Resource } from '../protocol/catalog.ts';
import type { ErrorBody } from '../protocol/errors.ts';
import type { AttributeChecker, CheckOptions } from './typed-attributes.ts';

// Where typed attributes stand in a catalog: on its provider, its resources, its offers with their considerations and
// add-ons, and on a provider that an offer names. Each is checked at its place, so that a fault has the whole path.

export type Check = Pick<AttributeChecker, 'check'>;

export function checkProvider(provider: OfferProvider, checker: Check, options: CheckOptions): ErrorBody[] {
  return checkMember(provider, 'providerAttributes', checker, options);
}

export function checkResource(resource: Resource, checker: Check, options: CheckOptions): ErrorBody[] {
  return checkMember(resource, 'resourceAttributes', checker, options);
}

export function checkOffer(offer: Offer, checker: Check, options: CheckOptions): ErrorBody[] {
  const { provider, considerations = [], addOns = [] } = offer;
  const below = (...segments: (string | number)[]) => ({
    ...options,
    at: [...(options.at ?? []), ...segments],
  });
  return [
    ...checkMember(offer, 'offerAttributes', checker, options),
    ...(provider ? checkProvider(provider, checker, below('provider')) : []),
    ...considerations.flatMap((item, index) =>
      checkMember(item, 'considerationAttributes', checker, below('considerations', index)),
    ),
    ...addOns.flatMap((item, index) => [
      ...checkMember(item, 'resourceAttributes', checker, below('addOns', index)),
      ...checkMember(item, 'offerAttributes', checker, below('addOns', index)),
    ]),
  ];
}

/**
 * The faults of a whole catalog, for those who take all of it or nothing. A resource may be a template, or wait for what it
 * inherits: then missing members are no fault.
 */
export function checkCatalog(
  catalog: Catalog,
  checker: Check,
  {
    at = [],
    isPartial = () => false,
  }: { at?: CheckOptions['at']; isPartial?: (resource: Resource) => boolean } = {},
): ErrorBody[] {
  const { provider, resources = [], offers = [] } = catalog;
  return [
    ...checkProvider(provider, checker, { at: [...at, 'provider'] }),
    ...resources.flatMap((resource, index) =>
      checkResource(resource, checker, { at: [...at, 'resources', index], partial: isPartial(resource) }),
    ),
    ...offers.flatMap((offer, index) => checkOffer(offer, checker, { at: [...at, 'offers', index] })),
  ];
}

function checkMember<Name extends string>(
  holder: { [name in Name]?: Readonly<Record<string, unknown>> },
  name: Name,
  checker: Check,
  { at = [], partial, brief }: CheckOptions,
): ErrorBody[] {
  const attributes = holder[name];
  return attributes === undefined ? [] : checker.check(attributes, { at: [...at, name], partial, brief });
}
