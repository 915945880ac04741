import type { Catalog, CatalogType, Offer, Resource } from '../../../src/protocol/catalog.ts';
import {
  type Intent,
  type SpatialConstraint,
  spatialConstraints,
} from '../../../src/protocol/discover-messages.ts';
import type { Geometry } from '../../../src/protocol/geojson.ts';
import type { Json, JsonObject } from '../../../src/protocol/json.ts';
import type { Pagination } from '../../../src/protocol/shapes.ts';
import {
  type AttachedOffer,
  attachOffers,
  coversResource,
  type OfferingCatalog,
} from '../../../src/rules/discover/attach-offers.ts';
import { compareStanding, type Standing } from '../../../src/rules/discover/order.ts';
import { maxLimit, pageAnswer, type StoredDocument } from '../../../src/rules/discover/page-answer.ts';
import { quantify } from '../../../src/rules/discover/quantify.ts';
import { isSearched, isServed, type SearchScope } from '../../../src/rules/discover/served.ts';
import { type Filter, parseFilter } from '../../../src/rules/filters/parse.ts';
import { selectResources } from '../../../src/rules/filters/select.ts';
import { schemaTypesOf } from '../../../src/rules/match.ts';
import { boundsOf } from '../../../src/rules/time-period.ts';
import type { IndexFormat } from '../../../src/search/format/index-format.ts';
import { addressedGeometries } from '../values/addressed-geometries.ts';
import {
  type AskedText,
  type DocumentFormat,
  findBestRank,
  textQueries,
  type Vocabulary,
  vocabularyOf,
} from './plain-text-search.ts';

// What discover must answer, found without any index: every part of an intent is held against every document. Catalogs, and the
// resources in each, stand in the order in which they are given.

export interface KnownCatalog {
  /** Identity of the node that published it. */
  owner: string;
  /** None means every network. */
  networkIds: readonly string[];
  type: CatalogType;
  /** As assembled. */
  catalog: Catalog;
  /** False for what is withdrawn, retired, or hidden by another copy. */
  served?: boolean;
  /** In which it, or each of its documents, is indexed: it cuts texts into words. The newest unless it is said. */
  format?: DocumentFormat;
}

export interface Question extends SearchScope {
  intent: Intent;
  limit?: number;
  offset?: number;
  now: Date;
}

export interface Yardsticks {
  /** What a spatial constraint says of a stored geometry, and how far away that is where it asks. */
  measure: (constraint: SpatialConstraint) => (stored: Geometry) => { holds: boolean; distance?: number };
  /** By default that of the given catalogs. */
  vocabulary?: Vocabulary;
  /** Those that documents are indexed in; the newest unless it is said. */
  formats?: ReadonlySet<IndexFormat>;
}

export interface Found extends Standing {
  catalog: Catalog;
  resource: Resource;
  /** Those that apply to it. */
  offers: readonly Offer[];
}

/** All that matches, in order. */
export function findByTheBook(
  index: readonly KnownCatalog[],
  question: Question,
  yardsticks: Yardsticks,
): Found[] {
  const { networkId, now } = question;
  const served = index.filter((known) => known.served !== false);
  const offers = served
    .filter(({ catalog, ...known }) =>
      isServed({ ...catalog, ...known, validity: boundsOf(catalog.validity) }, networkId, now),
    )
    .flatMap((known) => (known.catalog.offers ?? []).map((offer) => ({ offer, catalog: offering(known) })));
  const search = searchFor(question.intent, index, yardsticks);
  return served
    .filter(({ catalog, ...known }) =>
      isSearched(
        { ...catalog, ...known, schemaTypes: schemaTypesOf(catalog), validity: boundsOf(catalog.validity) },
        question,
        now,
      ),
    )
    .flatMap((known) => {
      const resourceIds = (known.catalog.resources ?? []).map(({ id }) => id);
      const attached = attachOffers({ ...offering(known), resourceIds }, offers, now);
      return findInCatalog(known, attached, search, index.indexOf(known));
    })
    .sort(compareStanding);
}

function offering({ owner, networkIds, catalog: { id, provider } }: KnownCatalog): OfferingCatalog {
  return { owner, id, providerId: provider.id, networkIds };
}

function searchFor(
  intent: Intent,
  index: readonly KnownCatalog[],
  { measure, vocabulary, formats }: Yardsticks,
): Search {
  const { textSearch, filters } = intent;
  const words = () => vocabulary ?? vocabularyOf(index);
  return {
    ...(textSearch?.trim() && { text: textQueries(textSearch, words(), formats) }),
    ...(filters && { filter: parseFilter(filters.expression, { acceptPostfix: true }) }),
    spatial: spatialConstraints(intent).map((constraint) => ({ ...constraint, test: measure(constraint) })),
    formatOf: new Map(
      index.flatMap(({ catalog, format }) => (catalog.offers ?? []).map((offer) => [offer, format] as const)),
    ),
  };
}

function findInCatalog(
  known: KnownCatalog,
  attached: AttachedOffer[],
  search: Search,
  position: number,
): Found[] {
  const { catalog } = known;
  const selected = search.filter && selectBy(search.filter, catalog, attached);
  return (catalog.resources ?? []).flatMap((resource, index) => {
    if (selected?.has(index) === false) return [];
    const offers = attached.filter((offer) => coversResource(offer, index)).map(({ offer }) => offer);
    const standing = findStanding(resource, known, offers, search);
    return standing ? [{ ...standing, position: [position, index], catalog, resource, offers }] : [];
  });
}

function selectBy(filter: Filter, catalog: Catalog, offers: AttachedOffer[]): Set<number> {
  const { resources = [], offers: _, ...members } = catalog;
  return selectResources(filter, { members: members as JsonObject, resources: resources as Json[], offers });
}

/** Undefined where the text or the place does not match. */
function findStanding(
  resource: Resource,
  known: KnownCatalog,
  offers: readonly Offer[],
  { text, spatial, formatOf }: Search,
): Omit<Standing, 'position'> | undefined {
  const { catalog } = known;
  const rank =
    text &&
    findBestRank(
      text,
      resource,
      known,
      offers.map((offer) => ({ offer, format: formatOf.get(offer) })),
    );
  if (text && rank === undefined) return undefined;
  let distance: number | undefined;
  for (const { targets, quantifier, test } of spatial) {
    const results = addressedGeometries(targets, resource, catalog, offers).map(test);
    const isThere = quantify(quantifier, {
      asked: results.length,
      holds: results.filter(({ holds }) => holds).length,
    });
    if (!isThere) return undefined;
    const distances = results.flatMap((result) => result.distance ?? []);
    // Of several radiuses the first one orders.
    if (distances.length > 0) distance ??= Math.min(...distances);
  }
  return { ...(rank !== undefined && { rank }), ...(distance !== undefined && { distance }) };
}

/** The page of it that a request gets. */
export function answerByTheBook(
  found: readonly Found[],
  { limit, offset }: Question,
): { catalogs: Catalog[]; pagination?: Pagination } {
  const documents = new Map<object, StoredDocument>();
  const stored = (value: object, shown = value): StoredDocument => {
    const document = documents.get(value) ?? { text: JSON.stringify(shown) };
    documents.set(value, document);
    return document;
  };
  const start = offset ?? 0;
  const page = found.slice(start, start + (limit ?? maxLimit)).map(({ catalog, resource, offers }) => ({
    catalog: stored(catalog, { ...catalog, resources: undefined, offers: undefined }),
    resource: stored(resource),
    offers: offers.map((offer) => stored(offer)),
  }));
  const { catalogs, pagination } = pageAnswer(page, found.length, { limit, offset });
  return { catalogs: JSON.parse(catalogs), ...(pagination && { pagination }) };
}

interface Search {
  text?: AskedText[];
  /** Of offers. */
  formatOf: ReadonlyMap<Offer, DocumentFormat | undefined>;
  filter?: Filter;
  spatial: (SpatialConstraint & { test: ReturnType<Yardsticks['measure']> })[];
}
