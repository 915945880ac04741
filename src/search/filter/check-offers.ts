import { bigintArray } from '../../storage/binary-arrays.ts';
import { Parameters } from '../../storage/parameters.ts';
import type { Search } from '../candidates.ts';
import { catalogKeyOf, inBatches } from '../documents/keys.ts';
import { appliesCondition } from '../documents/offers.ts';
import { findListings } from '../documents/read-wide-offers.ts';
import { addScope } from '../documents/scope.ts';
import { listOffersIn } from '../documents/wide-offers.ts';
import { type Keys, keysOf } from '../lists/key-sets.ts';
import { evaluateUrl, testDocuments } from './evaluate.ts';
import { readOfferList } from './read-catalogs.ts';

// Evaluates a filter that looks at each offer by itself. An offer is read and tested once in a search, however many resources it applies to and however many catalogs list it. Resources
// and catalogs are not read.

/** So many are read and tested at a time. */
const offersAtOnce = 10_000;

/** Selects those of resources that selected offers apply to, in their order. */
export function selectByOffers(search: Search): (keys: readonly number[]) => Promise<number[]> {
  const { database, plan } = search;
  /** Whether the filter selects an offer, by its key. */
  const verdicts = new Map<number, boolean>();
  /** Whether a catalog lists a selected offer on all its resources, by its key. */
  const homes = new Map<number, boolean>();
  const isCovered = (key: number) => homes.get(catalogKeyOf(key)) === true;
  const isPassing = (offer: number) => verdicts.get(offer) === true;

  return async (keys) => {
    await readHomes(new Set(keys.map(catalogKeyOf)));
    const named = await findNamed(keys.filter((key) => !isCovered(key)));
    return keys.filter((key) => isCovered(key) || named.has(key));
  };

  async function readHomes(wanted: ReadonlySet<number>): Promise<void> {
    const unknown = [...wanted].filter((home) => !homes.has(home));
    const found = await findListings(database, unknown, plan.scope);
    // Most catalogs of a provider share one list.
    const passes = new Map<Float64Array, boolean>();
    for (const home of unknown) {
      const listing = found.get(home);
      const list = listing ? listOffersIn(listing, home) : noOffers;
      if (!passes.has(list)) {
        await test(list);
        passes.set(list, list.some(isPassing));
      }
      homes.set(home, passes.get(list) === true);
    }
  }

  async function findNamed(keys: readonly number[]): Promise<ReadonlySet<number>> {
    const offers = await findNaming(search, keys);
    await test(offers);
    return new Set(await findCoveredAmong(search, keys, offers.filter(isPassing)));
  }

  async function test(offers: ArrayLike<number>): Promise<void> {
    const unknown = Float64Array.from(offers).filter((key) => !verdicts.has(key));
    const passing = await testOffers(search, unknown);
    for (const key of unknown) verdicts.set(key, false);
    for (const key of passing) verdicts.set(key, true);
  }
}

/** Those of the offers that the filter selects, in order. */
export async function testOffers(search: Search, offers: Keys): Promise<Keys> {
  const passing: number[] = [];
  for (const part of inBatches(offers, offersAtOnce)) {
    await search.evaluation.begin();
    const { keys, text } = await readOfferList(search.database, part);
    const positions = await search.evaluation.run<number[]>('filter', {
      module: evaluateUrl,
      name: testDocuments.name,
      input: { ...search.plan.filterSource, list: 'offers', texts: [text] },
    });
    for (const position of positions) passing.push(keys[position] ?? 0);
  }
  return keysOf(passing);
}

const noOffers = new Float64Array();

// The statements return offers and resources once each, never as pairs.

/** The offers that name one of these resources, each once. Whether they apply is not asked. */
async function findNaming({ database }: Search, keys: readonly number[]): Promise<number[]> {
  if (keys.length === 0) return [];
  const { rows } = await database.query<{ keys: string | null }>(
    `with found as materialized (
       select distinct owner, resource.id from unnest($1::bigint[]) as wanted (key)
       join discovery.resource using (key) join discovery.catalog on catalog.key = resource.catalog_key
     )
     select array_to_json(array_agg(distinct offer_key))::text as keys
     from found cross join lateral (
       select offer_key from discovery.offer_target
       where offer_target.owner = found.owner and offer_target.resource_id = found.id offset 0) as target`,
    [bigintArray(keys)],
    { prepared: true },
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}

/** Those of the resources that one of these offers names and applies to: the first one that does is enough. */
async function findCoveredAmong(
  { database, plan }: Search,
  keys: readonly number[],
  offerKeys: readonly number[],
): Promise<number[]> {
  if (keys.length === 0 || offerKeys.length === 0) return [];
  const parameters = new Parameters();
  const scopes = addScope(plan.scope, parameters);
  const { rows } = await database.query<{ keys: string | null }>(
    `with found as materialized (
       select resource.key, resource.id, owner, resource.catalog_key
       from unnest(${parameters.add(bigintArray(keys))}::bigint[]) as wanted (key)
       join discovery.resource using (key) join discovery.catalog on catalog.key = resource.catalog_key
     )
     select array_to_json(array_agg(found.key))::text as keys
     from found cross join lateral (
       select from (
         select offer_key from discovery.offer_target
         where offer_target.owner = found.owner and resource_id = found.id
           and offer_key = any (${parameters.add(bigintArray(offerKeys))}::bigint[]) offset 0) as target
       join discovery.offer on offer.key = target.offer_key
       join discovery.catalog as origin on origin.key = offer.catalog_key
       join discovery.catalog as home on home.key = found.catalog_key
       where ${appliesCondition(scopes)} limit 1) as covering`,
    parameters.values,
    { prepared: true },
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}
