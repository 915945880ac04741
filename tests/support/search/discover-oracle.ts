import type { Catalog, CatalogType, Offer, Resource } from '../../../src/protocol/catalog.ts';
import {
  type Intent,
  type RankedResource,
  type SpatialConstraint,
  spatialConstraints,
} from '../../../src/protocol/discover-messages.ts';
import type { Geometry } from '../../../src/protocol/geojson.ts';
import type { Json, JsonObject } from '../../../src/protocol/json.ts';
import type { Pagination } from '../../../src/protocol/shapes.ts';
import {
  type AttachedOffer,
  attachOffers,
  type OfferingCatalog,
  type OfferTerms,
  termsOf,
} from '../../../src/rules/discover/attach-offers.ts';
import { compareStanding, type Standing } from '../../../src/rules/discover/order.ts';
import { AnswerDraft, maxLimit, type StoredDocument } from '../../../src/rules/discover/page-answer.ts';
import { quantify } from '../../../src/rules/discover/quantify.ts';
import { isSearched, isServed, type SearchScope } from '../../../src/rules/discover/served.ts';
import { type Filter, parseFilter } from '../../../src/rules/filters/parse.ts';
import { selectResources } from '../../../src/rules/filters/select.ts';
import { schemaTypesOf } from '../../../src/rules/match.ts';
import type { TextQuery } from '../../../src/rules/text/rank.ts';
import { boundsOf } from '../../../src/rules/time-period.ts';
import { addressedGeometries } from '../values/addressed-geometries.ts';
import { findRank, textQuery, type Vocabulary, vocabularyOf } from './plain-text-search.ts';

// The correct answer of discover, computed without an index: every part of an intent is checked on every document. Each catalog is searched
// separately, with its own valid offers; offers of other catalogs are attached to the results. Catalogs, and the resources in each, are in the given
// order.

export interface KnownCatalog {
  /** Identity of the node that published it. */
  owner: string;
  /** Empty: every network. */
  networkIds: readonly string[];
  type: CatalogType;
  /** As assembled. */
  catalog: Catalog;
  /** False if it is withdrawn, retired, or hidden by another copy. */
  served?: boolean;
}

export interface Question extends SearchScope {
  intent: Intent;
  limit?: number;
  offset?: number;
  now: Date;
}

export interface Yardsticks {
  /** The result of a spatial constraint on a stored geometry, with the distance if the constraint needs one. */
  measure: (constraint: SpatialConstraint) => (stored: Geometry) => { holds: boolean; distance?: number };
  /** By default that of the given catalogs. */
  vocabulary?: Vocabulary;
}

export interface Found extends Standing {
  catalog: Catalog;
  resource: Resource;
  /** The offers that apply to it. */
  offers: readonly Offer[];
  /** Position of catalog and resource in the index. */
  position: readonly [catalog: number, resource: number];
}

/** All matches, in order. */
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
    .flatMap((known) => publishedBy(known));
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
      const attach = (published: readonly Published[]) =>
        attachOffers({ ...offering(known), resourceIds }, published, now);
      const found = findInCatalog(known, attach(publishedBy(known)), search, index.indexOf(known));
      const attached = attach(offers);
      return found.map((each) => ({ ...each, offers: offersOn(attached, each.position[1]) }));
    })
    .sort((a, b) => compareStanding(a, b) || a.position[0] - b.position[0] || a.position[1] - b.position[1]);
}

interface Published extends OfferTerms {
  offer: Offer;
}

function publishedBy(known: KnownCatalog): Published[] {
  return (known.catalog.offers ?? []).map((offer) => ({ ...termsOf(offer, offering(known)), offer }));
}

function offersOn(attached: readonly AttachedOffer<Published>[], index: number): Offer[] {
  const covering = attached.filter(({ covers }) => covers === 'all' || covers.has(index));
  return covering.map(({ offer: { offer } }) => offer);
}

function offering({ owner, networkIds, catalog: { id, provider } }: KnownCatalog): OfferingCatalog {
  return { owner, id, providerId: provider.id, networkIds };
}

function searchFor(
  intent: Intent,
  index: readonly KnownCatalog[],
  { measure, vocabulary }: Yardsticks,
): Search {
  const { textSearch, filters } = intent;
  const words = () => vocabulary ?? vocabularyOf(index);
  return {
    ...(textSearch?.trim() && { text: textQuery(textSearch, words()) }),
    ...(filters && { filter: parseFilter(filters.expression, { acceptPostfix: true }) }),
    spatial: spatialConstraints(intent).map((constraint) => ({ ...constraint, test: measure(constraint) })),
  };
}

function findInCatalog(
  { catalog }: KnownCatalog,
  attached: readonly AttachedOffer<Published>[],
  search: Search,
  position: number,
): Found[] {
  const selected = search.filter && selectBy(search.filter, catalog, attached);
  return (catalog.resources ?? []).flatMap((resource, index) => {
    if (selected?.has(index) === false) return [];
    const offers = offersOn(attached, index);
    const standing = findStanding(resource, catalog, offers, search);
    return standing ? [{ ...standing, position: [position, index], catalog, resource, offers }] : [];
  });
}

function selectBy(
  filter: Filter,
  catalog: Catalog,
  attached: readonly AttachedOffer<Published>[],
): Set<number> {
  const { resources = [], offers: _, ...members } = catalog;
  const offers = attached.map(({ offer: { offer }, covers }) => ({ offer, covers }));
  return selectResources(filter, { members: members as JsonObject, resources: resources as Json[], offers });
}

/** Undefined where the text or the place does not match. */
function findStanding(
  resource: Resource,
  catalog: Catalog,
  offers: readonly Offer[],
  { text, spatial }: Search,
): Standing | undefined {
  const rank = text && findRank(text, resource, catalog, offers);
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
    // The first of several distance constraints determines the order.
    if (distances.length > 0) distance ??= Math.min(...distances);
  }
  return { ...rank, ...(distance !== undefined && { distance }) };
}

/** The page that a request gets. */
export function answerByTheBook(
  found: readonly Found[],
  { limit, offset }: Question,
): { catalogs: Catalog[]; pagination?: Pagination; ranking: RankedResource[] } {
  const documents = new Map<object, StoredDocument>();
  const stored = (value: object, shown = value): StoredDocument => {
    const document = documents.get(value) ?? { text: JSON.stringify(shown) };
    documents.set(value, document);
    return document;
  };
  const start = offset ?? 0;
  const shown = found.slice(start, start + (limit ?? maxLimit));
  const page = shown.map(({ catalog, resource, offers, rank, distance }) => ({
    ranked: {
      ...{ catalogId: catalog.id, resourceId: resource.id },
      ...(rank !== undefined && { rank }),
      ...(distance !== undefined && { distanceMeters: distance }),
    },
    catalog: stored(catalog, { ...catalog, resources: undefined, offers: undefined }),
    resource: stored(resource),
    offers: offers.map((offer) => stored(offer)),
  }));
  const draft = new AnswerDraft();
  draft.add(page);
  const { catalogs, pagination, ranking } = draft.finish(found.length, { limit, offset });
  return { catalogs: JSON.parse(catalogs), ranking, ...(pagination && { pagination }) };
}

interface Search {
  text?: TextQuery;
  filter?: Filter;
  spatial: (SpatialConstraint & { test: ReturnType<Yardsticks['measure']> })[];
}
