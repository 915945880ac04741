import type { Search } from '../candidates.ts';
import { headOf, keyOf } from '../documents/keys.ts';
import { findOwnCovered } from '../documents/own-offers.ts';
import { firstWithReach } from '../format/index-format.ts';
import { intersection, type Keys, union } from '../lists/key-sets.ts';
import { emptyList, type KeyList, seek, type WholeList } from '../lists/posting-list.ts';
import { emptyWhole } from '../lists/read-whole.ts';
import { findOfferedAmong } from './offer-words.ts';
import { raiseToHeads } from './standing-words.ts';

// Words of offers at home: those that can apply to resources of their own catalog alone (write/reach.ts). Which resources they name, and whether they are valid now, stands in their rows. Few
// are read at once. Of many, the heads of their catalogs are upper bounds: a resource counts there as if one of the offers applied to it, and the best ones are verified (settle-ranks.ts).

/** The offers at home with a word. */
export interface HomeWord {
  /** What they apply to now, where they are few. */
  own: WholeList;
  /** Otherwise these offers, and the catalogs in which they may apply to resources. */
  offers: KeyList;
  bounds: WholeList;
}

export const noHomeWord: HomeWord = { own: emptyWhole, offers: emptyList, bounds: emptyWhole };

/** The catalogs whose offers may apply to resources of others: undefined where all may, as nothing is written of it yet. From the same lists comes the same object. */
export function findAway(
  { formats }: Pick<Search, 'formats'>,
  { abroad, wide, siblings }: { abroad: Keys; wide: Keys; siblings: Keys },
): Keys | undefined {
  if ((formats[0]?.version ?? 0) < firstWithReach) return undefined;
  const known = aways.get(abroad);
  if (known?.wide === wide && known.siblings === siblings) return known.away;
  const away = union([abroad, intersection(wide, siblings)]);
  aways.set(abroad, { wide, siblings, away });
  return away;
}

const aways = new WeakMap<Keys, { wide: Keys; siblings: Keys; away: Keys }>();

interface DividedByHeads {
  among: KeyList;
  others: KeyList;
}

/** Divides offers by whether their catalogs are among those. From the same lists comes the same object: what is cached of it stays valid. */
export function divideByHeads(offers: KeyList, heads: Keys | undefined): DividedByHeads {
  if (heads === undefined || offers.keys.length === 0) return { among: offers, others: emptyList };
  if (heads.length === 0) return { among: emptyList, others: offers };
  const known = dividedByHeads.get(offers);
  if (known?.heads === heads) return known.divided;
  const divided = pickByHeads(offers, heads);
  dividedByHeads.set(offers, { heads, divided });
  return divided;
}

const dividedByHeads = new WeakMap<KeyList, { heads: Keys; divided: DividedByHeads }>();

function pickByHeads(offers: KeyList, heads: Keys): DividedByHeads {
  const [among, others] = [[] as Range[], [] as Range[]];
  let done = 0;
  for (const range of rangesOf(offers.keys, heads)) {
    if (range.start > done) others.push({ start: done, end: range.start });
    among.push(range);
    done = range.end;
  }
  if (done < offers.keys.length) others.push({ start: done, end: offers.keys.length });
  return { among: pickRanges(offers, among), others: pickRanges(offers, others) };
}

/** By the words' numbers. */
export async function readHomeWords(
  { database, plan: { scope } }: Search,
  lists: ReadonlyMap<number, KeyList>,
): Promise<Map<number, HomeWord>> {
  const isFew = ([, { keys }]: [number, KeyList]) => keys.length > 0 && keys.length <= fewOffers;
  const own = await findOwnCovered(database, new Map([...lists].filter(isFew)), scope);
  return new Map(
    Array.from(lists, ([id, offers]): [number, HomeWord] => {
      if (offers.keys.length <= fewOffers) return [id, { ...noHomeWord, own: own.get(id) ?? emptyWhole }];
      return [id, { ...noHomeWord, offers, bounds: boundsOf(offers) }];
    }),
  );
}

/** From the same list comes the same object. */
function boundsOf(offers: KeyList): WholeList {
  const bounds = knownBounds.get(offers) ?? { heads: raiseToHeads(offers), others: emptyList };
  knownBounds.set(offers, bounds);
  return bounds;
}

const knownBounds = new WeakMap<KeyList, WholeList>();

const fewOffers = 100;

/** What many offers at home apply to now, as far as their catalogs have some of these resources, by the words' numbers. */
export async function findHomeAmong(
  search: Search,
  lists: ReadonlyMap<number, KeyList>,
  keys: Keys,
): Promise<Map<number, WholeList>> {
  const heads = headsOf(keys);
  const near = new Map(
    Array.from(lists, ([id, offers]) => [id, pickRanges(offers, rangesOf(offers.keys, heads))]),
  );
  let count = 0;
  for (const offers of near.values()) count += offers.keys.length;
  if (count <= Math.max(fewOffers, offersPerResource * keys.length))
    return findOwnCovered(search.database, near, search.plan.scope);
  // Catalogs with very many offers: here it is less to ask the resources for theirs.
  return findOfferedAmong(search, near, keys);
}

/** To ask a resource for its offers takes as long as to read so many offers. */
const offersPerResource = 3;

/** Without repeats. */
function headsOf(keys: Keys): Keys {
  const heads = new Float64Array(keys.length);
  let count = 0;
  for (let index = 0; index < keys.length; index++) {
    const head = headOf(keys[index] as number);
    if (count === 0 || heads[count - 1] !== head) heads[count++] = head;
  }
  return heads.subarray(0, count);
}

interface Range {
  start: number;
  end: number;
}

/** Where the keys of catalogs stand in a list, in order. Of the longer one, no more is looked at than is needed. */
function rangesOf(keys: Keys, heads: Keys): Range[] {
  const ranges: Range[] = [];
  for (let index = 0, at = 0; index < keys.length && at < heads.length; ) {
    const head = heads[at] as number;
    const key = keys[index] as number;
    if (key < head) index = seek(keys, head, index);
    else if (key >= head + catalogSpan) at = seek(heads, headOf(key), at);
    else {
      const end = seek(keys, head + catalogSpan, index);
      ranges.push({ start: index, end });
      index = end;
      at++;
    }
  }
  return ranges;
}

const catalogSpan = keyOf(1, 0);

function pickRanges({ keys, weights }: KeyList, ranges: readonly Range[]): KeyList {
  const count = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  const picked: KeyList = { keys: new Float64Array(count), weights: new Uint8Array(count) };
  let at = 0;
  for (const { start, end } of ranges) {
    picked.keys.set(keys.subarray(start, end), at);
    picked.weights.set(weights.subarray(start, end), at);
    at += end - start;
  }
  return picked;
}
