import { maxLimit, neededCount } from '../rules/discover/page-answer.ts';
import { everyDocument } from './documents/members.ts';
import { inScope, selectSearched } from './documents/scope.ts';
import { openFilter } from './filter/filter-set.ts';
import { type Hit, hitsOf, keysOfHits, sortHits } from './hit.ts';
import type { Plan } from './plan.ts';
import { type DocSet, readAll } from './set/doc-set.ts';
import { inBatches, type Keys, keysOf } from './set/sorted.ts';
import { openPlace, type Place } from './spatial/place.ts';
import { openText, type TextSearch } from './text/text-search.ts';
import type { Tools } from './tools.ts';

// From a plan to hits in the order of the answer. Each part of an intent (text, place, filter) can lead, and check the candidates of another. The most selective part leads. A place provides the nearest hits first,
// and a text the best first, so an answer in that order can end before all candidates are checked.

/** Maximum of resources or geometries of a selective part. Higher with a text, which would be compared in batches of ten thousand. */
const maxLed = { alone: 2_000, besideText: 20_000 };
/** Hits of one batch: slightly more than an answer counts. */
const atOnce = 1_200;

interface Parts {
  text?: TextSearch;
  place?: Place;
  filter?: DocSet;
}

/** All candidates of a selective part. */
interface Few {
  by: 'place' | 'filter';
  keys: Keys;
}

/** Hits in the order of the answer, in batches, without repetitions. */
export async function* findHits(tools: Tools, plan: Plan): AsyncGenerator<Hit[]> {
  const parts = await openParts(tools, plan);
  const { text, place, filter } = parts;
  const limit = text ? maxLed.besideText : maxLed.alone;
  const leads = [
    ...(place ? [{ by: 'place' as const, estimate: place.estimate }] : []),
    ...(filter ? [{ by: 'filter' as const, estimate: filter.estimate }] : []),
  ].filter((each) => each.estimate <= limit && each.estimate < (text?.estimate ?? Number.POSITIVE_INFINITY));
  leads.sort((a, b) => a.estimate - b.estimate);
  const few = await readFew(parts, leads, limit);
  tools.trace.note('lead', { by: few?.by ?? (text ? 'text' : place ? 'place' : 'filter') });

  if (few) yield* findFew(tools, parts, few);
  else if (text) yield* findRanked(tools, plan, parts);
  else if (place?.hasDistance) yield* place.nearest(selectBy(tools, parts));
  else yield* streamSet(tools, place ? place.set() : undefined, parts);
}

async function openParts(tools: Tools, plan: Plan): Promise<Parts> {
  const { text, spatial, filter } = plan;
  const isBesideOthers = text !== undefined || filter !== undefined;
  const countUpTo = (text === undefined ? maxLed.alone : maxLed.besideText) + 1;
  // Open places, words and lists in parallel, because they are independent.
  const [words, place, set] = await Promise.all([
    text === undefined ? undefined : openText(tools, plan),
    spatial.length === 0 ? undefined : openPlace(tools, spatial, { isBesideOthers, countUpTo }),
    filter && openFilter(tools, filter),
  ]);
  return { text: words, place, filter: set };
}

/** The candidates of the leading part. Estimates count geometries or catalogs: a part with more than `atMost` resources does not lead. */
async function readFew({ text, place, filter }: Parts, leads: readonly { by: Few['by'] }[], atMost: number) {
  for (const { by } of leads) {
    // Without a text, a place has its own order.
    if (by === 'place' ? !text : !text && !place) return undefined;
    const keys = by === 'place' ? await place?.candidates(atMost) : filter && (await readAll(filter, atMost));
    if (keys) return { by, keys };
  }
  return undefined;
}

/** Selects the resources that are in scope and match the filter. */
function selectBy(tools: Tools, { filter }: Parts): (keys: Keys) => Promise<Keys> {
  return async (keys) => {
    const searched = await selectSearched(tools.reader, keys, tools.scope);
    return filter && searched.length > 0 ? filter.among(searched) : searched;
  };
}

/** In key order, if neither words nor a distance determine the order. */
async function* streamSet(tools: Tools, places: DocSet | undefined, parts: Parts): AsyncGenerator<Hit[]> {
  const lead = places ?? parts.filter ?? everyDocument(tools.reader, 'resource');
  const set = inScope(tools.reader, lead, tools.scope);
  const select = places ? selectBy(tools, parts) : async (keys: Keys) => keys;
  for (let keys = await set.next(atOnce); keys; keys = await set.next(atOnce)) {
    tools.deadline.check();
    yield hitsOf(await select(keys));
  }
}

/** Checks the few candidates of a filter or a place against the other parts, and sorts them. */
async function* findFew(tools: Tools, parts: Parts, { by, keys }: Few): AsyncGenerator<Hit[]> {
  const { text, place } = parts;
  const select = selectBy(tools, by === 'filter' ? { ...parts, filter: undefined } : parts);
  const hits: Hit[] = [];
  for (const some of inBatches(await select(keys), atOnce)) {
    tools.deadline.check();
    const ranked = text ? await text.rank(some) : hitsOf(some);
    hits.push(...(place ? await checkPlace(place, ranked) : ranked));
  }
  yield sortHits(hits);
}

async function checkPlace(place: Place, ranked: readonly Hit[]): Promise<Hit[]> {
  const byKey = new Map(ranked.map((hit) => [hit.key, hit]));
  const found = await place.check(keysOf(byKey.keys()));
  return found.map(({ key, distance }) => ({ ...byKey.get(key), key, distance }));
}

/** Resources with a word of the text, in the order of the answer. */
async function* findRanked(tools: Tools, { paging }: Plan, parts: Parts): AsyncGenerator<Hit[]> {
  const { text, place, filter } = parts;
  const { limit = maxLimit, offset = 0 } = paging;
  const select = selectBy(tools, parts);
  if (place) return yield await findBanded(tools, parts, neededCount(paging));
  // If there is only a text, the best hits are the page, and the others are only counted.
  const wanted = { count: filter ? atOnce : offset + limit, areOthersCounted: filter === undefined };
  for await (const best of text?.best(wanted) ?? [])
    for (const hits of inBatches(best, atOnce)) {
      tools.deadline.check();
      const selected = filter ? new Set(await select(keysOfHits(hits))) : undefined;
      yield selected ? hits.filter(({ key }) => selected.has(key)) : hits;
    }
}

/** Checks resources by band if there is a distance, otherwise by rank, until enough are found. Later batches have only more common words. */
async function findBanded(tools: Tools, parts: Parts, needed: number): Promise<Hit[]> {
  const { text, place } = parts;
  const select = selectBy(tools, parts);
  const found: Hit[] = [];
  const orderOf = (hit?: Hit) => (place?.hasDistance ? hit?.band : hit?.rank) ?? -1;
  for await (const keys of text?.gather() ?? []) {
    const selected = await select(keys);
    const ranked = text && selected.length > 0 ? await text.rank(selected) : [];
    ranked.sort((a, b) => orderOf(b) - orderOf(a));
    const before = found.length;
    for (let start = 0, end = 0; start < ranked.length && place; start = end) {
      tools.deadline.check();
      end = Math.min(start + atOnce, ranked.length);
      while (orderOf(ranked[end]) === orderOf(ranked[end - 1])) end++;
      if (found.length - before >= needed) break;
      for (const some of inBatches(ranked.slice(start, end), atOnce))
        for (const hit of await checkPlace(place, some)) found.push(hit);
    }
    if (found.length >= needed) break;
  }
  return sortHits(found);
}
