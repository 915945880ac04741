import { bigintArray } from '../../storage/binary-arrays.ts';
import { Parameters } from '../../storage/parameters.ts';
import { type Candidates, type Proposal, type Search, streamOnce } from '../candidates.ts';
import { headOf, inBatches, keyOf, lastNumbers } from '../documents/keys.ts';
import { expandMembers } from '../documents/members.ts';
import { type DividedOffers, divideOffers, selectByIds } from '../documents/offers.ts';
import { findHomes, readListings } from '../documents/read-wide-offers.ts';
import { firstWithReach } from '../format/index-format.ts';
import { hasKey, type Keys, keysOf, union } from '../lists/key-sets.ts';
import { lowerBound } from '../lists/posting-list.ts';
import { emptyWhole, readWholeLists } from '../lists/read-whole.ts';
import { abroadList, siblingList } from '../lists/runs.ts';
import { checkCondition, type DocumentCheck } from './check-documents.ts';
import { selectByOffers } from './check-offers.ts';
import { divideInParts, readInParts, selectByOwnOffers } from './select-by-own-offers.ts';

// Proposes candidates for a filter that looks at each offer by itself: what the offers that pass it apply to. Where it asks for a value, an index leads to them, and other catalogs are not looked at, however
// many offers they have. Offers that apply to nothing but resources of their own catalog select these in the order of keys, as far as somebody reads; what all others may apply to is found first.

/** To look up more takes longer than to read all offers in the order of keys, until enough of them pass. */
const maxOffers = 8_000;
/** Of more offers it is not looked up what they reach: then every resource is a candidate. */
const maxAbroad = 20_000;
/** About. */
const resourcesOfCatalog = 3;

export async function proposeByOffers(search: Search): Promise<Proposal | undefined> {
  const { plan, trace } = search;
  if (plan.filter?.offers === undefined) return undefined;
  const { check, asksForValue } = plan.filter.offers;
  const away = await readAway(search);
  const passing =
    asksForValue && check
      ? await trace.time(
          'read offers of filter',
          () => findPassingOffers(search, check),
          ({ length }) => ({ offers: length }),
        )
      : undefined;
  const isFew = passing !== undefined && passing.length <= maxOffers;
  if (away === undefined) return isFew ? proposeReached(search, passing) : undefined;
  const atHome = isFew ? keysOf(passing.filter((key) => !hasKey(away, headOf(key)))) : undefined;
  const abroad = isFew
    ? passing.filter((key) => hasKey(away, headOf(key)))
    : await findPassingOffersOf(search, away, check);
  if (abroad.length > maxAbroad) return undefined;
  const reached = await findReached(search, abroad);
  const parts = () => (atHome ? divideInParts(atHome) : readInParts(search, check, away));
  return {
    by: 'filter: offers',
    estimate: atHome ? (atHome.length + reached.length) * resourcesOfCatalog : Number.POSITIVE_INFINITY,
    open: async (): Promise<Candidates> => ({
      keys: mergeSelected(search, selectByOwnOffers(search, parts()), reached),
      isSelected: true,
    }),
  };
}

/** The catalogs some of whose offers may apply to resources of others; undefined where nothing is written of it. */
async function readAway({ database, formats }: Search): Promise<Keys | undefined> {
  if ((formats[0]?.version ?? 0) < firstWithReach) return undefined;
  const lists = await readWholeLists(database, [abroadList, siblingList]);
  if (lists.size < 2) return undefined;
  return union([abroadList, siblingList].map((list) => (lists.get(list) ?? emptyWhole).heads.keys));
}

/** From an index that does not tell which offers apply to nothing else: all resources that these may apply to. */
async function proposeReached(search: Search, offers: readonly number[]): Promise<Proposal> {
  const reached = await findReached(search, offers);
  return {
    by: 'filter: offers',
    estimate: reached.length * resourcesOfCatalog,
    open: async () => ({ keys: streamOnce(reached) }),
  };
}

/** What is selected, with those of the resources reached by other offers that one of these applies to, in order. */
async function* mergeSelected(
  search: Search,
  selected: AsyncIterable<{ keys: Keys; upTo: number }>,
  reached: Keys,
): AsyncGenerator<Keys> {
  const select = selectByOffers(search);
  let start = 0;
  async function* selectUpTo(key: number): AsyncGenerator<Keys> {
    const part = reached.subarray(start, lowerBound(reached, key));
    start += part.length;
    for (const some of inBatches(part, resourcesAtOnce))
      for (const members of inBatches(await expandMembers(search.database, some), resourcesAtOnce)) {
        search.deadline.check();
        yield keysOf(await select([...members]));
      }
  }
  for await (const { keys, upTo } of selected) {
    const others: Keys[] = [];
    for await (const some of selectUpTo(upTo)) others.push(some.filter((key) => !hasKey(keys, headOf(key))));
    yield union([keys, ...others]);
  }
  yield* selectUpTo(Number.POSITIVE_INFINITY);
}

/** As many as an answer counts, and some more. */
const resourcesAtOnce = 1_200;

/** The offers whose documents pass a check, one more than may be at most: where it asks for a value, an index leads to them. */
async function findPassingOffers({ database }: Search, check: DocumentCheck): Promise<number[]> {
  const parameters = new Parameters();
  // Without a limit inside, which would let PostgreSQL hope to find enough sooner by reading all offers.
  const { rows } = await database.query<{ keys: string | null }>(
    `with passing as materialized (select key from discovery.offer where ${checkCondition(check, parameters)})
     select array_to_json(array_agg(key))::text as keys from (select key from passing limit ${maxOffers + 1}) as first`,
    parameters.values,
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}

/** The same, of some catalogs alone. */
async function findPassingOffersOf(
  { database }: Search,
  heads: Keys,
  check: DocumentCheck | undefined,
): Promise<number[]> {
  if (heads.length === 0) return [];
  const parameters = new Parameters();
  const wanted = parameters.add(bigintArray(heads));
  const { rows } = await database.query<{ keys: string | null }>(
    `select array_to_json(array_agg(key))::text as keys from (
       select key from unnest(${wanted}::bigint[]) as wanted (head) cross join lateral (
         select key, document from discovery.offer
         where offer.key > wanted.head and offer.key <= wanted.head + ${lastNumbers.offer} offset 0) as offer
       where ${check ? checkCondition(check, parameters) : 'true'} limit ${maxAbroad + 1}) as passing`,
    parameters.values,
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}

/** The resources that these offers name, and the catalogs that list wide ones. Whether the offers apply to them is not asked. */
async function findReached(search: Search, offers: readonly number[]): Promise<Keys> {
  const { named, wide } = await divideOffers(search.database, offers);
  const resources = await findNamed(search, named);
  const heads = await findHeads(search, wide);
  // A head stands for all its resources: none is a candidate twice.
  const others = resources.filter((key) => !hasKey(heads, headOf(key)));
  return union([keysOf(others), heads]);
}

/** The resources of the owners of these offers that the offers name, in order, each once. */
async function findNamed({ database }: Search, offerKeys: readonly number[]): Promise<number[]> {
  if (offerKeys.length === 0) return [];
  const { rows } = await database.query<{ keys: string | null }>(
    `with named as materialized (
       select distinct owner, named.id
       from unnest($1::bigint[]) as wanted (key) join discovery.offer using (key) cross join unnest(resource_ids) as named (id)
     )
     select array_to_json(array_agg(key order by key))::text as keys from (${selectByIds('select * from named')}) as named_resource`,
    [bigintArray(offerKeys)],
    { prepared: true },
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}

/** The catalogs that list one of these wide offers: each stands for all its resources. */
async function findHeads({ database, plan }: Search, wide: DividedOffers['wide']): Promise<Keys> {
  if (wide.length === 0) return new Float64Array();
  const listings = await readListings(
    database,
    wide.map(({ provider }) => provider),
    plan.scope,
  );
  const homes = wide.flatMap(({ provider, keys }) => findHomes(listings, provider, keys));
  return keysOf(homes.map(([home]) => keyOf(home, 0)));
}
