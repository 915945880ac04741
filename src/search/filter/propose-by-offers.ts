import { type Proposal, type Search, streamOnce } from '../candidates.ts';
import { keyOf } from '../documents/keys.ts';
import { divideOffers } from '../documents/offers.ts';
import { findHomes, readListings } from '../documents/read-wide-offers.ts';
import { type Keys, keysOf, union } from '../lists/key-sets.ts';
import { findNamed, findPassingOffers } from './find-offers.ts';

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
    () => findPassingOffers(database, check, maxOffers + 1),
    ({ length }) => ({ offers: length }),
  );
  if (offers.length > maxOffers) return undefined;
  const { named, wide } = await divideOffers(database, offers);
  const resources = await findNamed(database, named);
  const heads = await findHeads(search, wide);
  return {
    by: 'filter: offers',
    estimate: resources.length + heads.length * resourcesOfCatalog,
    open: async () => ({ keys: streamOnce(union([keysOf(resources), heads])) }),
  };
}

/** The catalogs that list one of these wide offers: each stands for all its resources. */
async function findHeads(
  { database, plan }: Search,
  wide: Awaited<ReturnType<typeof divideOffers>>['wide'],
): Promise<Keys> {
  if (wide.length === 0) return keysOf([]);
  const listings = await readListings(
    database,
    wide.map(({ provider }) => provider),
    plan.scope,
  );
  const homes = wide.flatMap(({ provider, keys }) => findHomes(listings, provider, keys));
  return keysOf(homes.map(([home]) => keyOf(home, 0)));
}
