import { createSemaphore } from '../console/semaphore.ts';
import { findAvailability } from '../rules/hit.ts';
import { findLowestPrices, findPrices, leastOf, type Price } from '../rules/prices.ts';
import type { Found, Intent } from './client.ts';
import { distanceOf } from './describe-hit.ts';
import type { Question } from './question.ts';
import type { McpContext } from './tool.ts';

export const maxGathered = 300;

/** Services refuse searches that take too long, and each answer needs memory here, so further questions wait for their turn. */
const inTurn = createSemaphore({ atOnce: 4, maxWaiting: 500, waitMs: 60_000 });

interface Gathered {
  found: Found[];
  /** The signer of the answer; undefined if nothing was found. */
  signer?: string;
  total?: number;
  nothing?: string;
}

export function gather(
  { signpost }: McpContext,
  { intent, network, limit = maxGathered }: { intent: Intent; network?: string; limit?: number },
  signal: AbortSignal,
): Promise<Gathered> {
  return inTurn(async () => {
    signal.throwIfAborted();
    const gathered: Gathered = { found: [] };
    const asked = signpost.discover(intent, {
      ...{ pageSize: limit, networkId: network, signal },
      onAnswer: (answer) => Object.assign(gathered, answer),
      onNothing: (nothing) => Object.assign(gathered, { nothing }),
    });
    for await (const hit of asked) {
      const count = gathered.found.push(hit);
      // A service without totals has no pages: it has sent all hits, which are counted here.
      if (count >= (gathered.total === undefined ? maxGathered : limit)) break;
    }
    return gathered;
  });
}

export function narrow(found: readonly Found[], { price, available }: Question, at: Date): Found[] {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = price ?? {};
  return found.filter((hit) => {
    const { state, offers } = findAvailability(hit, at);
    if (available && state !== 'available') return false;
    const main = findMainPrice(hit, price, at);
    const isAsked = (one: Price) => kindOf(one) === kindOf(main) && one.value >= min && one.value <= max;
    return price === undefined || findPrices(offers).some(isAsked);
  });
}

/** The price in the requested currency and unit; otherwise the price of energy, or the first price of the hit. */
function findMainPrice(hit: Found, { currency, unit }: Question['price'] = {}, at: Date): Price | undefined {
  const isAsked = (one: Price) =>
    one.currency === (currency ?? one.currency) && one.unit === (unit ?? one.unit);
  return findLowestPrices(findAvailability(hit, at).offers).find(isAsked);
}

/** Only prices of the same kind can be compared. */
function kindOf(price: Price | undefined): string | undefined {
  return price && JSON.stringify([price.currency, price.unit]);
}

export type Order = 'relevance' | 'price' | 'distance';

/** Sorts by prices of the most frequent kind. Hits without such a price, or without a place, come last. */
export function sortHits(found: readonly Found[], order: Order, { near, price: asked }: Question, at: Date) {
  if (order === 'relevance') return [...found];
  const prices = found.map((hit) => findMainPrice(hit, asked, at));
  const usual = findMostFrequent(prices.flatMap((price) => kindOf(price) ?? []));
  const keyed = found.map((hit, index) => {
    const price = prices[index];
    const cost = price && kindOf(price) === usual ? leastOf(price) : undefined;
    return { hit, key: (order === 'price' ? cost : distanceOf(hit, near)) ?? Number.MAX_VALUE };
  });
  return keyed.sort((one, other) => one.key - other.key).map(({ hit }) => hit);
}

function findMostFrequent(texts: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0];
}
