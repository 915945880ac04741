import { isJsonObject } from '../protocol/json.ts';
import { type Static, Type } from '../protocol/type.ts';
import { findAvailability, findDistance } from '../rules/hit.ts';
import { findLowestPrices, type Price } from '../rules/prices.ts';
import type { Found, Proof } from './client.ts';
import type { Question } from './question.ts';

export const Prices = Type.Array(
  Type.Object({
    value: Type.Number({ description: 'The highest, if it varies.' }),
    minValue: Type.Optional(Type.Number({ description: 'The lowest, if it varies.' })),
    currency: Type.String(),
    unit: Type.Optional(Type.String({ description: 'What the price is for, e.g. kWh or session.' })),
  }),
);
export const Fields = Type.Array(
  Type.Object({ field: Type.String(), value: Type.Unsafe<string | number | boolean>({}) }),
);

export const Described = Type.Object({
  id: Type.String({ description: 'For get_resource.' }),
  node: Type.Optional(Type.String({ description: 'The provider node that publishes it.' })),
  catalogId: Type.String(),
  name: Type.String(),
  description: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
  provider: Type.String(),
  distanceMeters: Type.Optional(Type.Number()),
  prices: Prices,
  availability: Type.String({ description: 'available, unavailable or unknown at that time.' }),
  facts: Fields,
  verified: Type.Object({
    answerSignedBy: Type.String({ description: 'The discovery service, whose signature was verified.' }),
    files: Type.String({
      description:
        "The provider's own signed files: proven (they say the same), differs, broken, unreachable, unprovable (relayed by a catalog service) or not checked.",
    }),
    reason: Type.Optional(Type.String()),
  }),
});

const maxFacts = 8;
const maxPrices = 5;

export function describeHit(
  hit: Found,
  { at, near, signer = '', proof }: { at: Date; near?: Question['near']; signer?: string; proof?: Proof },
): Static<typeof Described> {
  const { resource, catalog } = hit;
  const { state, offers } = findAvailability(hit, at);
  const distance = distanceOf(hit, near);
  return {
    ...{ id: resource.id, node: catalog.bppId, catalogId: catalog.id },
    name: resource.descriptor?.name ?? resource.id,
    description: resource.descriptor?.shortDesc,
    type: resource.resourceAttributes?.['@type'],
    provider: catalog.provider.descriptor.name,
    distanceMeters: distance === undefined ? undefined : Math.round(distance),
    prices: findLowestPrices(offers).slice(0, maxPrices).map(describePrice),
    availability: state,
    facts: listFacts(resource.resourceAttributes),
    verified: { answerSignedBy: signer, files: proof?.status ?? 'not checked', reason: proof?.reason },
  };
}

export function describePrice({ value, minValue, currency, unit }: Price): Static<typeof Prices>[number] {
  return { value, minValue, currency, unit: unit === '' ? undefined : unit };
}

export function distanceOf(hit: Found, near: Question['near']): number | undefined {
  return hit.distanceMeters ?? (near && findDistance(hit, near));
}

/** The least nested attributes, which usually say most. */
function listFacts(attributes: unknown): Static<typeof Fields> {
  const depthOf = ({ field }: { field: string }) => field.split('.').length;
  const fields = listFields(attributes).sort((one, other) => depthOf(one) - depthOf(other));
  return fields.filter(({ field }) => field !== 'id').slice(0, maxFacts);
}

const maxDepth = 8;
const maxItems = 10;
const maxMembers = 60;

/** The single values below a value, with their paths. Omits geometries and names of schemas. */
export function listFields(value: unknown, path = '', depth = 0): Static<typeof Fields> {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return [{ field: path, value }];
  if (depth >= maxDepth) return [];
  const below = (inner: unknown, step: string) => listFields(inner, `${path}${step}`, depth + 1);
  if (Array.isArray(value))
    return value.slice(0, maxItems).flatMap((item, index) => below(item, `[${index}]`));
  if (!isJsonObject(value) || 'coordinates' in value) return [];
  const members = Object.entries(value).filter(([name]) => !name.startsWith('@'));
  return members
    .slice(0, maxMembers)
    .flatMap(([name, member]) => below(member, path === '' ? name : `.${name}`));
}
