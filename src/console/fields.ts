import type { FastifyInstance } from 'fastify';
import { addTo } from '../group.ts';
import { isJsonObject, type JsonObject } from '../protocol/json.ts';
import { NetworkId } from '../protocol/shapes.ts';
import { Type } from '../protocol/type.ts';
import { createLookupCache } from '../registry/lookup-cache.ts';
import type { DocumentSample } from '../search/port.ts';
import { type Field, FieldsAnswer } from './answers/find.ts';
import type { ConsoleContext } from './context.ts';
import { describeFields, sentenceCase, splitWords } from './describe-fields.ts';
import { addRoute } from './route.ts';

export function addFieldRoutes(server: FastifyInstance, { search, now }: ConsoleContext): void {
  // Every visitor of the page requests it, and the answer hardly changes.
  const kept = createLookupCache<FieldsAnswer>({ maxEntries: maxNetworksKept, keepMs: () => keptMs, now });
  addRoute(server, 'GET /api/schemas/fields', {
    summary: 'List the fields that a search can be narrowed by, with the values that occur.',
    description:
      'Read from a bounded sample of the documents in the index; the numbers of values are those of the sample.',
    query: Type.Object({ network: Type.Optional(NetworkId) }),
    answer: FieldsAnswer,
    async handle({ query: { network: networkId } }) {
      const read = async () => buildAnswer(await search.sample({ networkId }));
      return (await kept.find(networkId ?? '', read)) ?? read();
    },
  });
}

const maxNetworksKept = 50;
const keptMs = 5_000;

function buildAnswer({ types, resources, offers }: DocumentSample): FieldsAnswer {
  const byType = new Map<string, JsonObject[]>();
  for (const resource of parseAll(resources)) {
    const type = typeOf(resource);
    if (type !== undefined) addTo(byType, type, resource);
  }
  const uses = new Map(types.map((each) => [each.type, each.uses]));
  const sampled = parseAll(offers);
  const described = [...byType].map(([type, documents]) => ({
    type,
    label: sentenceCase(splitWords(type.slice(type.lastIndexOf('#') + 1))),
    resources: uses.get(type) ?? documents.length,
    fields: describeFields(documents, ['resourceAttributes']),
    offers: describeOffers(sampled.filter((offer) => isFor(offer, documents))),
  }));
  return { types: described.sort((a, b) => b.resources - a.resources), offers: describeOffers(sampled) };
}

/** An offer without resourceIds does not show to which types of its provider's resources it applies. */
function isFor({ resourceIds }: JsonObject, resources: readonly JsonObject[]): boolean {
  return (
    Array.isArray(resourceIds) && resources.some(({ id }) => id !== undefined && resourceIds.includes(id))
  );
}

/** The price comes first: other numbers of an offer may be its parts. */
function describeOffers(offers: readonly JsonObject[]): Field[] {
  const fields = describeFields(offers, ['considerations', 'offerAttributes']);
  const isPrice = ({ path }: Field) => path === pricePath;
  return [
    ...fields.filter(isPrice).map((field) => ({ ...field, label: 'Price' })),
    ...fields.filter((field) => !isPrice(field)),
  ];
}

const pricePath = '@.considerations[*].considerationAttributes.value';

function parseAll(texts: readonly string[]): JsonObject[] {
  return texts.map((text) => JSON.parse(text)).filter(isJsonObject);
}

function typeOf({ resourceAttributes }: JsonObject): string | undefined {
  if (!isJsonObject(resourceAttributes)) return undefined;
  const { '@context': context, '@type': type } = resourceAttributes;
  return typeof context === 'string' && typeof type === 'string' ? `${context}#${type}` : undefined;
}
