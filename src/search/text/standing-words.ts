import { headOf } from '../documents/keys.ts';
import { selectRows } from '../lists/columns.ts';
import { hasKey, type Keys } from '../lists/key-sets.ts';
import { emptyList, type KeyList, sortPostings, type WholeList } from '../lists/posting-list.ts';

// The postings of words in standing offers. Such an offer applies to all resources of its own catalog, so that its key tells the head that its words count for, and nothing else is asked. Only
// where its catalog has siblings, it is looked up as other offers are, as it applies to their resources as well.

export interface StandingWord {
  /** The catalogs that have standing offers with the word, and no siblings. */
  heads: WholeList;
  /** Offers of catalogs that have siblings. */
  others: KeyList;
}

/** Divides the standing offers with a word. From the same lists comes the same object: what is cached of it stays valid. */
export function divideStanding(offers: KeyList, siblings: Keys): StandingWord {
  const known = divided.get(offers);
  if (known?.siblings === siblings) return known.word;
  const isAbroad = (index: number) => hasKey(siblings, headOf(offers.keys[index] as number));
  const others = siblings.length > 0 ? selectRows(offers, isAbroad) : emptyList;
  const home = others.keys.length > 0 ? selectRows(offers, (index) => !isAbroad(index)) : offers;
  const word = { heads: { heads: raiseToHeads(home), others: emptyList }, others };
  divided.set(offers, { siblings, word });
  return word;
}

const divided = new WeakMap<KeyList, { siblings: Keys; word: StandingWord }>();

/** Each catalog once, with the highest weight of its offers. Offers of a catalog stand side by side. */
export function raiseToHeads({ keys, weights }: KeyList): KeyList {
  const heads: KeyList = { keys: new Float64Array(keys.length), weights: new Uint8Array(keys.length) };
  let count = 0;
  for (let index = 0; index < keys.length; index++) {
    const head = headOf(keys[index] as number);
    const weight = weights[index] as number;
    if (count > 0 && heads.keys[count - 1] === head) {
      if (weight > (heads.weights[count - 1] as number)) heads.weights[count - 1] = weight;
      continue;
    }
    heads.keys[count] = head;
    heads.weights[count++] = weight;
  }
  return { keys: heads.keys.subarray(0, count), weights: heads.weights.subarray(0, count) };
}

/** The offers of two lists in one; the same object as before for the same lists. */
export function joinOffers(a: KeyList, b: KeyList): KeyList {
  if (a.keys.length === 0 || b.keys.length === 0) return a.keys.length === 0 ? b : a;
  const known = joined.get(a);
  if (known?.with === b) return known.list;
  const list = sortPostings({
    keys: Float64Array.from([...a.keys, ...b.keys]),
    weights: Uint8Array.from([...a.weights, ...b.weights]),
  });
  joined.set(a, { with: b, list });
  return list;
}

const joined = new WeakMap<KeyList, { with: KeyList; list: KeyList }>();
