import { mapBox } from '../../rules/geometry/map-box.ts';
import { queryBoxAround, type SphereBox } from '../../rules/geometry/sphere-box.ts';
import { bandOf, limitVariants, type TextQuery } from '../../rules/text/rank.ts';
import type { Scope } from '../documents/scope.ts';
import type { Source } from '../filter/plan.ts';
import type { Plan } from '../plan.ts';
import { isRadius, type SpatialPlan } from '../spatial/constraint.ts';
import { envelopeOf, everyNetwork, numberText, objectFact, placeFact, slotOf } from './document.ts';
import { anyPlace } from './indexes.ts';

// A plan as one question to OpenSearch. The question finds all matches, sometimes more.

export interface IndexQuestion {
  query: object;
  /** Hits must match this, too. Beside words, this is faster than a filter that most documents pass: OpenSearch can then skip documents by their scores. */
  postFilter?: object;
  sort: object[];
  /** The sort keys of each hit, before its key. */
  sortedBy: readonly ('band' | 'wide' | 'distance' | 'rank')[];
  /** A field of the hits with geometries that are not points, if later hits may have them. */
  wide?: string;
  /** The answer is in the order of distances. If the question does not sort by them, all hits must be measured. */
  hasDistance: boolean;
  /** It finds only matches, except for rounded coordinates and geometries that are not points. */
  isExact: boolean;
}

type PlacedConstraint = SpatialPlan & { around: SphereBox };

export function askIndex(plan: Plan, places: readonly PlacedConstraint[], text?: TextQuery): IndexQuestion {
  const { scope, filter } = plan;
  const { catalog, resource, offer } = filter?.lookups ?? {};
  const sources = [catalog, resource, offer].flatMap((lookup) => (lookup ? findSource(lookup.source) : []));
  const isShort = JSON.stringify(sources).split(/"(?:terms?|range)"/).length <= maxConditions;
  const lookups = isShort ? sources : [];
  // Only served documents have words.
  const [served, kept] = text ? [[], askScope(scope)] : [askServed(scope), []];
  const clauses = [...served, ...lookups, ...places.slice(0, maxPlaces).map(findPlace)];
  const radius = places.find(isRadius);
  const measured = radius && measure(radius);
  const words = text && (radius ? findBand(text) : findRank(text));
  const sortedBy = [
    ...(text ? [radius ? ('band' as const) : ('rank' as const)] : []),
    ...(measured ? (['wide', 'distance'] as const) : []),
  ];
  // If several conditions must hold for the same offer, the index cannot decide.
  const isOfOneOffer = offer === undefined || (offer.exact && 'list' in offer.source);
  const isOfOffers = filter?.isOfOffers === true;
  return {
    query: { bool: { filter: clauses, ...(words && { must: words }) } },
    ...(kept.length > 0 && { postFilter: { bool: { filter: kept } } }),
    sort: [...(text ? [{ _score: 'desc' }] : []), ...(measured?.sort ?? []), { key: 'asc' }],
    sortedBy,
    ...(text && measured && { wide: measured.wide }),
    hasDistance: radius !== undefined,
    isExact:
      (filter === undefined || (filter.exact && isShort)) &&
      (!isOfOffers || (offer !== undefined && isOfOneOffer)) &&
      places.every((each) => each.constraint.quantifier === 'ANY' && isPoint(each) && boxAround(each)) &&
      places.length === (radius ? 1 : 0),
  };
}

export function askServed(scope: Scope): object[] {
  return [{ term: { live: true } }, ...askScope(scope)];
}

function askScope({ networkId, schemaContext }: Scope): object[] {
  return [
    ...(networkId === undefined ? [] : [{ terms: { networks: [networkId, everyNetwork] } }]),
    ...(schemaContext.length === 0 ? [] : [{ terms: { schemas: schemaContext } }]),
  ];
}

function findSource(source: Source): object {
  switch (source.kind) {
    case 'fact':
      return { term: { facts: `${source.list}` } };
    case 'column': {
      const { least, most } = source.range;
      if (least > most) return { match_none: {} };
      const bounds = { gte: numberText(source.list, least), lte: numberText(source.list, most) };
      return { range: { numbers: bounds } };
    }
    case 'any': {
      // The facts are one condition: OpenSearch refuses more than 1,024.
      const facts = source.sources.flatMap((each) => (each.kind === 'fact' ? [`${each.list}`] : []));
      const others = source.sources.filter(({ kind }) => kind !== 'fact').map(findSource);
      return anyOf([{ terms: { facts } }, ...others]);
    }
    case 'all':
      return { bool: { filter: source.sources.map(findSource) } };
    case 'unless objects':
      return anyOf([findSource(source.source), { terms: { facts: source.paths.map(objectFact) } }]);
  }
}

function anyOf(queries: readonly object[]): object {
  if (queries.length === 0) return { match_none: {} };
  return { bool: { should: queries, minimum_should_match: 1 } };
}

/** Everything with boxes that may satisfy the constraint, or with any geometry there if no box limits it. */
function findPlace(place: PlacedConstraint): object {
  const { distanceMeters = 0, geometry } = place.constraint;
  const box = boxAround(place);
  if (box === undefined) return anyOf([{ terms: { facts: place.paths.map(placeFact) } }]);
  const { west, north, east, south } = mapBox(box);
  const bounds = { top_left: [west, north], bottom_right: [east, south] };
  const envelope = envelopeOf({ west, north, east, south });
  const isRound = isRadius(place) && geometry.type === 'Point';
  const distance = `${distanceMeters + slackMeters}m`;
  return anyOf(
    slotsOf(place.paths).map((slot) => {
      const facts = place.paths.filter((path) => slotOf(path) === slot).map(placeFact);
      const at = isRound
        ? { geo_distance: { distance, [`at_${slot}`]: geometry.coordinates.slice(0, 2) } }
        : { geo_bounding_box: { [`at_${slot}`]: bounds } };
      const area = { geo_shape: { [`area_${slot}`]: { shape: envelope, relation: 'intersects' } } };
      return { bool: { filter: [{ terms: { facts } }, anyOf([at, area])] } };
    }),
  );
}

function boxAround({ constraint, paths, around }: PlacedConstraint) {
  const isLimited = constraint.quantifier !== 'NONE' && slotsOf(paths).length <= maxSlots;
  return isLimited ? queryBoxAround(constraint.operator, around, constraint.distanceMeters) : undefined;
}

function slotsOf(paths: readonly string[]): number[] {
  return [...new Set(paths.map(slotOf))];
}

/** OpenSearch rounds coordinates to a centimetre. */
export const slackMeters = 0.05;

function isPoint({ constraint }: SpatialPlan): boolean {
  return constraint.geometry.type === 'Point';
}

/** The nearest first; undefined if the index has no distances. */
function measure({ constraint: { geometry }, paths }: SpatialPlan) {
  if (geometry.type !== 'Point') return undefined;
  const [first, ...others] = slotsOf(paths);
  const slot = others.length > 0 || first === undefined ? anyPlace : first;
  const from = { [`at_${slot}`]: geometry.coordinates.slice(0, 2), order: 'asc', mode: 'min', unit: 'm' };
  const wide = `wide_${slot}`;
  return { wide, sort: [{ [wide]: { order: 'desc', missing: 0 } }, { _geo_distance: from }] };
}

/** Maximum of words, other conditions, places, and fields of a place in one question: OpenSearch refuses more than 1,024 conditions. */
const [maxVariants, maxConditions, maxPlaces, maxSlots] = [700, 200, 2, 16];

/** The score is the rank. */
function findRank(text: TextQuery): object {
  return bestVariants(text, ({ word, weight }) => hasWord(word, { linear: {}, boost: weight / 100 }));
}

/** The score is the band. */
function findBand(text: TextQuery): object {
  return bestVariants(text, ({ word, form }, rarity) => ({
    constant_score: { filter: hasWord(word), boost: bandOf(rarity, form === 'exact') },
  }));
}

type Variant = TextQuery['words'][number]['variants'][number];

/** Any of the words, each with the score of its best variant. */
function bestVariants(text: TextQuery, score: (variant: Variant, rarity: number) => object): object {
  const words = limitVariants(text, maxVariants).map(({ variants, rarity }) => ({
    dis_max: { queries: variants.map((variant) => score(variant, rarity)) },
  }));
  return anyOf(words);
}

function hasWord(word: string, how: object = {}): object {
  return { rank_feature: { field: `words.${word}`, ...how } };
}
