import { Parameters } from '../../storage/parameters.ts';
import type { Search } from '../candidates.ts';
import { catalogKeyOf, headOf, keyOf } from '../documents/keys.ts';
import { findOwnCovered } from '../documents/own-offers.ts';
import { hasKey, type Keys, union } from '../lists/key-sets.ts';
import { emptyWhole } from '../lists/read-whole.ts';
import { checkCondition, type DocumentCheck } from './check-documents.ts';
import { testOffers } from './check-offers.ts';

// Selects by a filter that looks at each offer by itself, from the offers of catalogs whose offers apply to nothing else: offers are read in the order of their keys, a part at a time, and what they apply to
// in their own catalog is what the filter selects there. So no more is looked at than is read.

/** Parts of selected resources in order, a head for all of its catalog; with each, up to which key all is known. */
export async function* selectByOwnOffers(
  search: Search,
  offers: AsyncIterable<OffersPart>,
): AsyncGenerator<{ keys: Keys; upTo: number }> {
  const { plan, database, deadline } = search;
  for await (const { keys, upTo } of offers) {
    deadline.check();
    const passing = plan.filter?.offers?.exact ? keys : await testOffers(search, keys);
    const list = { keys: passing, weights: new Uint8Array(passing.length) };
    const found = await findOwnCovered(database, new Map([[0, list]]), plan.scope);
    const { heads, others } = found.get(0) ?? emptyWhole;
    // A head stands for all its resources: none is a candidate twice.
    const named = others.keys.filter((key) => !hasKey(heads.keys, headOf(key)));
    yield { keys: union([heads.keys, named]), upTo };
  }
}

/** Offers in order; those of a catalog come together. */
interface OffersPart {
  keys: Keys;
  /** No later one is below this key. */
  upTo: number;
}

/** Of known offers, more and more at a time. */
export async function* divideInParts(offers: Keys): AsyncGenerator<OffersPart> {
  for (let start = 0, size = firstOffers; start < offers.length; size *= growth) {
    let end = Math.min(start + size, offers.length);
    while (end < offers.length && isSameCatalog(offers, end)) end++;
    yield { keys: offers.subarray(start, end), upTo: endOfCatalog(offers[end - 1] as number) };
    start = end;
  }
}

/** Of all offers that pass a check, outside of some catalogs. */
export async function* readInParts(
  { database }: Search,
  check: DocumentCheck | undefined,
  without: Keys,
): AsyncGenerator<OffersPart> {
  let pending: Keys = new Float64Array();
  for (let after = 0, size = firstOffers; ; size *= growth) {
    const parameters = new Parameters();
    const [from, limit] = [parameters.add(after), parameters.add(size)];
    const condition = check ? checkCondition(check, parameters) : 'true';
    // In the order of keys, which the inner query has from its index: PostgreSQL would rather read all that pass and sort them.
    const { rows } = await database.query<{ keys: string | null }>(
      `select array_to_json(array_agg(key))::text as keys from (
         select key from (select key, document from discovery.offer where key > ${from}::bigint order by key offset 0) as offer
         where ${condition} limit ${limit}::integer) as passing`,
      parameters.values,
      { prepared: true },
    );
    const read = Float64Array.from(JSON.parse(rows[0]?.keys ?? '[]') as number[]);
    const offers = union([pending, read.filter((key) => !hasKey(without, headOf(key)))]);
    const last = read.at(-1);
    if (last === undefined || read.length < size) {
      if (offers.length > 0) yield { keys: offers, upTo: Number.POSITIVE_INFINITY };
      return;
    }
    after = last;
    // More of the last catalog may follow.
    const complete = offers.filter((key) => key < headOf(last));
    pending = offers.subarray(complete.length);
    if (complete.length > 0) yield { keys: complete, upTo: headOf(last) };
  }
}

/** About as many as an answer counts resources. */
const firstOffers = 1_200;
const growth = 3;

function isSameCatalog(keys: Keys, index: number): boolean {
  return headOf(keys[index] as number) === headOf(keys[index - 1] as number);
}

function endOfCatalog(key: number): number {
  return keyOf(catalogKeyOf(key) + 1, 0);
}
