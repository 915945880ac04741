import type { Search } from '../candidates.ts';
import { runInThread } from '../deadline.ts';
import { catalogKeyOf, inBatches } from '../documents/keys.ts';
import { readOfferList } from '../documents/read-homes.ts';
import { findListings } from '../documents/read-wide-offers.ts';
import { listOffersIn } from '../documents/wide-offers.ts';
import { evaluateUrl, testOffers } from './evaluate.ts';
import { findCoveredAmong, findNaming } from './find-offers.ts';

// Evaluates a filter that looks at each offer by itself. An offer is read and tested once in a search, however many resources it applies to and however many catalogs list it. Resources
// and catalogs are not read.

/** So many are read and tested at a time. */
const offersAtOnce = 10_000;

export class PassingOffers {
  private readonly search: Search;
  /** Whether the filter selects an offer, by its key. */
  private readonly verdicts = new Map<number, boolean>();
  /** Whether a catalog lists a selected offer on all its resources, by its key. */
  private readonly homes = new Map<number, boolean>();

  constructor(search: Search) {
    this.search = search;
  }

  /** Those of the resources that selected offers apply to, in their order. */
  async select(keys: readonly number[]): Promise<number[]> {
    await this.readHomes(new Set(keys.map(catalogKeyOf)));
    const isCovered = (key: number) => this.homes.get(catalogKeyOf(key)) === true;
    const named = await this.findNamed(keys.filter((key) => !isCovered(key)));
    return keys.filter((key) => isCovered(key) || named.has(key));
  }

  private async readHomes(wanted: ReadonlySet<number>): Promise<void> {
    const { database, plan } = this.search;
    const unknown = [...wanted].filter((home) => !this.homes.has(home));
    const found = await findListings(database, unknown, plan.scope);
    // Most catalogs of a provider share one list.
    const lists = new Map<number, Float64Array>();
    for (const [home, listing] of found) lists.set(home, listOffersIn(listing, home));
    const passes = new Map<Float64Array, boolean>();
    for (const list of new Set(lists.values())) {
      await this.test(list);
      passes.set(
        list,
        list.some((key) => this.verdicts.get(key) === true),
      );
    }
    for (const home of unknown) {
      const list = lists.get(home);
      this.homes.set(home, list !== undefined && passes.get(list) === true);
    }
  }

  private async findNamed(keys: readonly number[]): Promise<ReadonlySet<number>> {
    const { database, plan } = this.search;
    const offers = await findNaming(database, keys);
    await this.test(offers);
    const passing = offers.filter((key) => this.verdicts.get(key) === true);
    return new Set(await findCoveredAmong(database, keys, passing, plan.scope));
  }

  private async test(keys: ArrayLike<number>): Promise<void> {
    const { database, deadline, plan } = this.search;
    const unknown = Array.from(keys).filter((key) => !this.verdicts.has(key));
    for (const part of inBatches(unknown, offersAtOnce)) {
      deadline.check();
      const offers = await readOfferList(database, part);
      const positions = await runInThread<Uint32Array>(this.search, 'filterMs', {
        module: evaluateUrl,
        name: testOffers.name,
        input: { ...plan.filterSource, text: offers.text },
      });
      for (const key of part) this.verdicts.set(key, false);
      for (const position of positions) this.verdicts.set(offers.keys[position] ?? 0, true);
    }
  }
}
