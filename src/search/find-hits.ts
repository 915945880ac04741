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

// From a plan to hits in the order of the answer. Each part of an intent (text, place, filter) can lead, and check what another one leads to. The most selective part leads. Places come nearest first and words best
// first, so that an answer in that order can end before all candidates were looked at.

/** Resources or geometries: a part that leads to more is not selective. Beside a text more are, as it would have to be held against the others ten thousand by ten thousand. */
const maxLed = { alone: 2_000, besideText: 20_000 };
/** Hits of a part of the stream: about as many as an answer counts, and some more. */
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

/** Hits in the order of the answer, part by part, none twice. */
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
  // Places, words and lists are asked for at the same time: none depends on another.
  const [words, place, set] = await Promise.all([
    text === undefined ? undefined : openText(tools, plan),
    spatial.length === 0 ? undefined : openPlace(tools, spatial, { isBesideOthers, countUpTo }),
    filter && openFilter(tools, filter),
  ]);
  return { text: words, place, filter: set };
}

/** The candidates of the part that leads. An estimate counts geometries or catalogs, not their resources: what leads to more than that does not lead. */
async function readFew({ text, place, filter }: Parts, leads: readonly { by: Few['by'] }[], atMost: number) {
  for (const { by } of leads) {
    // Without a text, a place comes in its own order.
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

/** In the order of keys: what neither words nor a distance order. */
async function* streamSet(tools: Tools, places: DocSet | undefined, parts: Parts): AsyncGenerator<Hit[]> {
  const lead = places ?? parts.filter ?? everyDocument(tools.reader, 'resource');
  const set = inScope(tools.reader, lead, tools.scope);
  const select = places ? selectBy(tools, parts) : async (keys: Keys) => keys;
  for (let keys = await set.next(atOnce); keys; keys = await set.next(atOnce)) {
    tools.deadline.check();
    yield hitsOf(await select(keys));
  }
}

/** Few candidates of a filter or a place are all held against the other parts, and sorted. */
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

/** Resources that have a word of the text, in the order of the answer. */
async function* findRanked(tools: Tools, { paging }: Plan, parts: Parts): AsyncGenerator<Hit[]> {
  const { text, place, filter } = parts;
  const { limit = maxLimit, offset = 0 } = paging;
  const select = selectBy(tools, parts);
  if (place) return yield await findBanded(tools, parts, neededCount(paging));
  // By the text alone, the page is known with the best; all others are only counted.
  const wanted = { count: filter ? atOnce : offset + limit, areOthersCounted: filter === undefined };
  for await (const best of text?.best(wanted) ?? [])
    for (const hits of inBatches(best, atOnce)) {
      tools.deadline.check();
      const selected = filter ? new Set(await select(keysOfHits(hits))) : undefined;
      yield selected ? hits.filter(({ key }) => selected.has(key)) : hits;
    }
}

/** With a distance the order is by band, otherwise by rank: all that are ranked together are looked at in it until enough are found. What comes next has only words that are more common. */
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
