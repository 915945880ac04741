import type { Catalog, Offer, OfferProvider, Resource } from '../protocol/catalog.ts';
import type { ErrorBody } from '../protocol/errors.ts';
import { refusalAt } from '../protocol/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { findExcess } from './geometry/complexity.ts';
import { findGeometries } from './geometry/find-geometries.ts';
import type { AttributeChecker, CheckOptions } from './typed-attributes.ts';

// The checks of a provider, a resource and an offer: typed attributes, also inside an offer, and geometries at any depth. Each has its path, so that a fault has the whole path.

export type Check = Pick<AttributeChecker, 'check'>;

interface PartOptions extends CheckOptions {
  skipsGeometries?: boolean;
}

export function checkProvider(provider: OfferProvider, checker: Check, options: PartOptions): ErrorBody[] {
  return [
    ...checkMember(provider, 'providerAttributes', checker, options),
    ...checkGeometries(provider, options),
  ];
}

export function checkResource(resource: Resource, checker: Check, options: PartOptions): ErrorBody[] {
  return [
    ...checkMember(resource, 'resourceAttributes', checker, options),
    ...checkGeometries(resource, options),
  ];
}

export function checkOffer(offer: Offer, checker: Check, options: PartOptions): ErrorBody[] {
  const { provider, considerations = [], addOns = [] } = offer;
  const below = (...segments: (string | number)[]) => ({
    ...options,
    at: [...(options.at ?? []), ...segments],
  });
  return [
    ...checkMember(offer, 'offerAttributes', checker, options),
    ...(provider ? checkMember(provider, 'providerAttributes', checker, below('provider')) : []),
    ...considerations.flatMap((item, index) =>
      checkMember(item, 'considerationAttributes', checker, below('considerations', index)),
    ),
    ...addOns.flatMap((item, index) =>
      (['resourceAttributes', 'offerAttributes'] as const).flatMap((name) => {
        const { [name]: attributes } = item;
        return isTyped(attributes) ? checker.check(attributes, below('addOns', index, name)) : [];
      }),
    ),
    ...checkGeometries(offer, options),
  ];
}

/** An add-on may have anything under these names. */
function isTyped(value: unknown): value is JsonObject {
  const { '@context': context, '@type': type } = isJsonObject(value) ? value : {};
  return typeof context === 'string' && typeof type === 'string';
}

export function checkGeometries(part: object, { at = [], skipsGeometries = false }: PartOptions) {
  if (skipsGeometries) return [];
  return findGeometries(part as Json).flatMap(({ at: place, geometry }) => {
    const excess = findExcess(geometry);
    return excess ? [refusalAt([...at, ...place, ...excess.at], excess.message, excess.code)] : [];
  });
}

/** All faults of a catalog. A partial resource (a template, or one that inherits) may lack members. */
export function checkCatalog(
  catalog: Catalog,
  checker: Check,
  {
    at = [],
    isPartial = () => false,
    skipsGeometries,
  }: Pick<PartOptions, 'at' | 'skipsGeometries'> & { isPartial?: (resource: Resource) => boolean } = {},
): ErrorBody[] {
  const { provider, resources = [], offers = [] } = catalog;
  const below = (...segments: (string | number)[]) => ({ at: [...at, ...segments], skipsGeometries });
  return [
    ...checkProvider(provider, checker, below('provider')),
    ...resources.flatMap((resource, index) =>
      checkResource(resource, checker, { ...below('resources', index), partial: isPartial(resource) }),
    ),
    ...offers.flatMap((offer, index) => checkOffer(offer, checker, below('offers', index))),
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
