import { isJsonObject, type Json } from '../protocol/json.ts';
import { type Static, Type } from '../protocol/type.ts';
import {
  type Found,
  findAvailability,
  findDistance,
  findLowestPrices,
  findPrices,
  type Intent,
  type Proof,
} from './client.ts';
import type { Question } from './question.ts';
import type { McpContext } from './tool.ts';

// What a discovery service has found: gathered, narrowed by price and availability, sorted, and described.

/** So many resources of an answer are looked at. */
export const maxGathered = 300;

export interface Gathered {
  found: Found[];
  /** Who has signed the answer; undefined where nothing was found. */
  signer?: string;
  /** How many match at the service, where it says so. */
  total?: number;
  /** What the service says where nothing was found. */
  nothing?: string;
}

export async function gather(
  { signpost }: McpContext,
  { intent, network, limit = maxGathered }: { intent: Intent; network?: string; limit?: number },
  signal: AbortSignal,
): Promise<Gathered> {
  const gathered: Gathered = { found: [] };
  const asked = signpost.discover(intent, {
    ...{ pageSize: limit, networkId: network, signal },
    onAnswer: (answer) => Object.assign(gathered, answer),
    onNothing: (nothing) => Object.assign(gathered, { nothing }),
  });
  for await (const found of asked) if (gathered.found.push(found) === limit) break;
  return gathered;
}

/** What remains of the hits by price and availability. */
export function narrow(found: readonly Found[], { price, available }: Question, at: Date): Found[] {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, currency } = price ?? {};
  return found.filter((hit) => {
    const { state, offers } = findAvailability(hit, at);
    if (available && state !== 'available') return false;
    const isAsked = (one: { value: number; currency: string }) =>
      one.value >= min && one.value <= max && (currency === undefined || one.currency === currency);
    return price === undefined || findPrices(offers).some(isAsked);
  });
}

export type Order = 'relevance' | 'price' | 'distance';

/** What has no price, or no place, comes last. */
export function sortHits(
  found: readonly Found[],
  order: Order,
  { near, price }: Question,
  at: Date,
): Found[] {
  const currency = price?.currency ?? findUsualCurrency(found);
  const priceOf = (hit: Found) =>
    findLowestPrices(findAvailability(hit, at).offers).find((one) => one.currency === currency)?.value;
  const keyOf = (hit: Found) => (order === 'price' ? priceOf(hit) : near && findDistance(hit, near));
  if (order === 'relevance') return [...found];
  const keyed = found.map((hit) => ({ hit, key: keyOf(hit) ?? Number.MAX_VALUE }));
  return keyed.sort((one, other) => one.key - other.key).map(({ hit }) => hit);
}

/** Prices of different currencies cannot be compared: those in the most frequent one are sorted. */
function findUsualCurrency(found: readonly Found[]): string {
  const counts = new Map<string, number>();
  for (const { currency } of found.flatMap(({ offers }) => findLowestPrices(offers)))
    counts.set(currency, (counts.get(currency) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0] ?? '';
}

export const Prices = Type.Array(Type.Object({ value: Type.Number(), currency: Type.String() }));
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
export type Described = Static<typeof Described>;

const maxFacts = 8;
const maxPrices = 5;

export function describeHit(
  hit: Found,
  { at, near, signer = '', proof }: { at: Date; near?: Question['near']; signer?: string; proof?: Proof },
): Described {
  const { resource, catalog } = hit;
  const { state, offers } = findAvailability(hit, at);
  const distance = near && findDistance(hit, near);
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

export function describePrice({
  value,
  currency,
}: {
  value: number;
  currency: string;
}): Static<typeof Prices>[number] {
  return { value, currency };
}

/** The attributes that are least nested, which mostly tell most. */
function listFacts(attributes: unknown): Static<typeof Fields> {
  const depthOf = ({ field }: { field: string }) => field.split('.').length;
  const fields = listFields(attributes).sort((one, other) => depthOf(one) - depthOf(other));
  return fields.filter(({ field }) => field !== 'id').slice(0, maxFacts);
}

const maxDepth = 8;
const maxItems = 10;
const maxMembers = 60;

/** The single values below a value, by their paths. Geometries and names of schemas are left out. */
export function listFields(value: unknown, path = '', depth = 0): Static<typeof Fields> {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return [{ field: path, value }];
  if (depth >= maxDepth) return [];
  if (Array.isArray(value))
    return value
      .slice(0, maxItems)
      .flatMap((item, index) => listFields(item, `${path}[${index}]`, depth + 1));
  if (!isJsonObject(value as Json) || 'coordinates' in (value as object)) return [];
  const members = Object.entries(value as object).filter(([name]) => !name.startsWith('@'));
  return members
    .slice(0, maxMembers)
    .flatMap(([name, member]) => listFields(member, path === '' ? name : `${path}.${name}`, depth + 1));
}
