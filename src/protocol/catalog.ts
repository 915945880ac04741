/** The catalog and its parts (catalog spec: Resources and their fields). Only the Catalog itself is closed, in requests; `ReceivedCatalog`, for callbacks and files, is also open. */

import { Geometry } from './geojson.ts';
import { closed, Id, titled } from './shapes.ts';
import { type Static, type TObjectOptions, Type } from './type.ts';

/** Catalogs are searched by both together; the limits of their lengths are ours, the specification has none. */
const SchemaContext = Type.String({ format: 'uri', maxLength: 2048, description: 'URI of the schema.' });
const SchemaTypeName = Type.String({ minLength: 1, maxLength: 128, description: 'Type within that schema.' });

export const Attributes = Type.Unsafe<TypedAttributes>(
  Type.Object(
    { '@context': SchemaContext, '@type': SchemaTypeName },
    { title: 'Attributes', description: 'Domain-specific fields, validated against the schema of @context.' },
  ),
);
export type Attributes = Static<typeof Attributes>;
type TypedAttributes = { '@context': string; '@type': string; [member: string]: unknown };

/** The specification requires no @context of a provider's attributes; if one of the two is present, both must be. */
const ProviderAttributes = Type.Unsafe<Partial<TypedAttributes>>(
  Type.Object(
    { '@context': Type.Optional(SchemaContext), '@type': Type.Optional(SchemaTypeName) },
    {
      title: 'ProviderAttributes',
      description: 'Domain-specific fields; validated where @context and @type name a schema.',
      dependentRequired: { '@context': ['@type'], '@type': ['@context'] },
    },
  ),
);

const dayOrInstant = Type.String({
  format: 'date-or-date-time',
  description: 'A whole UTC day or a date-time; the bound is inclusive, and open if it is missing.',
  examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
});
const timeOfDay = Type.String({
  format: 'time-of-day',
  description: 'Daily window, in UTC unless it has an offset; may cross midnight.',
  examples: ['22:00:00Z'],
});

export const TimePeriod = titled('TimePeriod', {
  startDate: Type.Optional(dayOrInstant),
  endDate: Type.Optional(dayOrInstant),
  startTime: Type.Optional(timeOfDay),
  endTime: Type.Optional(timeOfDay),
});
export type TimePeriod = Static<typeof TimePeriod>;

const descriptorMembers = {
  name: Type.Optional(Type.String()),
  shortDesc: Type.Optional(Type.String()),
  longDesc: Type.Optional(Type.String()),
  thumbnailImage: Type.Optional(Type.String()),
  code: Type.Optional(Type.String()),
  docs: Type.Optional(Type.Array(Type.Unknown())),
  mediaFile: Type.Optional(Type.Array(Type.Unknown())),
};

export const Descriptor = titled('Descriptor', descriptorMembers);
export type Descriptor = Static<typeof Descriptor>;

const ProviderDescriptor = titled('ProviderDescriptor', { ...descriptorMembers, name: Type.String() });

export const Address = titled('Address', {
  streetAddress: Type.Optional(Type.String()),
  addressLocality: Type.Optional(Type.String()),
  addressRegion: Type.Optional(Type.String()),
  postalCode: Type.Optional(Type.String()),
  addressCountry: Type.Optional(Type.String()),
});
export type Address = Static<typeof Address>;

export const Location = Type.Object(
  { geo: Type.Optional(Geometry), address: Type.Optional(Address) },
  { title: 'Location', description: 'Usually a Point with an address; any GeoJSON geometry is understood.' },
);
export type Location = Static<typeof Location>;

const providerMembers = {
  availableAt: Type.Optional(
    Type.Array(Location, { description: 'Where the provider is; resources without a location inherit it.' }),
  ),
  providerAttributes: Type.Optional(ProviderAttributes),
  rating: Type.Optional(Type.Unknown({ description: 'Aggregate rating.' })),
};

export const Provider = titled('Provider', {
  id: Type.String({ ...Id, description: "Stable identifier in the publisher's namespace." }),
  descriptor: ProviderDescriptor,
  ...providerMembers,
});
export type Provider = Static<typeof Provider>;

/** An offer may name its provider only by id: the catalog describes the provider. */
export const OfferProvider = titled('OfferProvider', {
  id: Id,
  descriptor: Type.Optional(Descriptor),
  ...providerMembers,
});
export type OfferProvider = Static<typeof OfferProvider>;

export const Resource = titled('Resource', {
  id: Type.String({ ...Id, description: 'Globally unique resource identifier.' }),
  descriptor: Type.Optional(Descriptor),
  resourceAttributes: Type.Optional(Attributes),
});
export type Resource = Static<typeof Resource>;

const Consideration = titled('Consideration', { id: Id, considerationAttributes: Type.Optional(Attributes) });

/** The specification does not define the structure of add-ons. */
const AddOn = Type.Unsafe<Record<string, unknown>>(
  Type.Object({}, { title: 'AddOn', description: 'Any object; its typed attributes are checked.' }),
);

export const Offer = titled('Offer', {
  id: Type.String({ ...Id, description: 'Unique offer identifier.' }),
  descriptor: Type.Optional(Descriptor),
  provider: Type.Optional(OfferProvider),
  resourceIds: Type.Optional(
    Type.Array(Id, { description: 'Resources covered; omitted: all resources of the provider.' }),
  ),
  addOns: Type.Optional(Type.Array(AddOn)),
  considerations: Type.Optional(Type.Array(Consideration)),
  validity: Type.Optional(TimePeriod),
  offerAttributes: Type.Optional(Attributes),
});
export type Offer = Static<typeof Offer>;

const catalogMembers = {
  id: Type.String({
    ...Id,
    description: 'Stable identifier; later publishes with the same id are merged or replace the catalog.',
  }),
  descriptor: Descriptor,
  provider: Provider,
  resources: Type.Optional(Type.Array(Resource)),
  offers: Type.Optional(Type.Array(Offer)),
  bppId: Type.Optional(Type.String({ minLength: 1, description: 'Provider Node that publishes it.' })),
  bppUri: Type.Optional(Type.String({ format: 'uri', description: 'Protocol API base URL of that node.' })),
  isActive: Type.Optional(Type.Boolean({ default: true })),
  validity: Type.Optional(TimePeriod),
};

const resourcesOrOffers: TObjectOptions = {
  description: 'Has at least one of resources and offers; an offer-only catalog is allowed.',
  anyOf: [{ required: ['resources'] }, { required: ['offers'] }],
};

export const Catalog = closed(catalogMembers, { title: 'Catalog', ...resourcesOrOffers });
export type Catalog = Static<typeof Catalog>;

export const ReceivedCatalog = Type.Object(catalogMembers, {
  title: 'ReceivedCatalog',
  ...resourcesOrOffers,
});
export type ReceivedCatalog = Static<typeof ReceivedCatalog>;

export const CatalogType = Type.Enum(['MASTER', 'REGULAR'], { type: 'string', title: 'CatalogType' });
export type CatalogType = Static<typeof CatalogType>;
