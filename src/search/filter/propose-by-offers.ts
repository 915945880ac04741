import { bigintArray } from '../../storage/binary-arrays.ts';
import { Parameters } from '../../storage/parameters.ts';
import { type Proposal, type Search, streamOnce } from '../candidates.ts';
import { headOf, keyOf } from '../documents/keys.ts';
import { type DividedOffers, divideOffers, selectByIds } from '../documents/offers.ts';
import { findHomes, readListings } from '../documents/read-wide-offers.ts';
import { hasKey, type Keys, keysOf, union } from '../lists/key-sets.ts';
import { checkCondition, type DocumentCheck } from './check-documents.ts';

// Proposes candidates for a filter that asks each offer for a value: what the offers with that value apply to. Other catalogs are not looked at, however many offers they have.

/** More offers are not selective: then every resource is a candidate. */
const maxOffers = 20_000;
/** About. */
const resourcesOfCatalog = 3;

export async function proposeByOffers(search: Search): Promise<Proposal | undefined> {
  const { plan, database, trace } = search;
  const check = plan.filter?.offers?.check;
  if (check === undefined) return undefined;
  const offers = await trace.time(
    'read offers of filter',
    () => findPassingOffers(search, check),
    ({ length }) => ({ offers: length }),
  );
  if (offers.length > maxOffers) return undefined;
  const { named, wide } = await divideOffers(database, offers);
  const resources = await findNamed(search, named);
  const heads = await findHeads(search, wide);
  // A head stands for all its resources: none is a candidate twice.
  const others = resources.filter((key) => !hasKey(heads, headOf(key)));
  return {
    by: 'filter: offers',
    estimate: others.length + heads.length * resourcesOfCatalog,
    open: async () => ({ keys: streamOnce(union([keysOf(others), heads])) }),
  };
}

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

/** The resources of the owners of these offers that the offers name, in order, each once. Whether the offers apply to them is not asked. */
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
  const listings = await readListings(
    database,
    wide.map(({ provider }) => provider),
    plan.scope,
  );
  const homes = wide.flatMap(({ provider, keys }) => findHomes(listings, provider, keys));
  return keysOf(homes.map(([home]) => keyOf(home, 0)));
}
