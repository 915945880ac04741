import { neededCount } from '../../rules/discover/page-answer.ts';
import { type Candidates, limitSelective, type Proposal, type Search, streamOnce } from '../candidates.ts';
import { intersection, type Keys, prepareLookup } from '../lists/key-sets.ts';
import { everyResource } from '../lists/runs.ts';
import { findObjectPaths } from './object-paths.ts';
import type { FilterPart } from './plan.ts';
import { proposeByOffers } from './propose-by-offers.ts';
import { findWhole, type Reading, readSources } from './read-sources.ts';

// Proposes candidates for a filter. Each part of it leads to all resources that it selects, and to others: so the parts are intersected. Where they have few candidates, all are sorted; where
// they have many, one part streams, and the others are sets that its candidates must be in.

/** Lists of this length are still read as a whole. */
const maxListKeys = 160_000;

/** So many candidates are checked on their documents rather than looked for among the numbers of another part, which may be any number. */
const fewToCheck = 5_000;

/** From what the index knows of the filter; without that, every resource is one. */
export async function proposeByFilter(search: Search): Promise<Proposal> {
  const { plan, trace } = search;
  const parts = await findUsableParts(search);
  if (parts.length === 0) {
    const byOffers = await proposeByOffers(search);
    if (byOffers) return byOffers;
    return { by: 'every resource', estimate: Number.POSITIVE_INFINITY, open: () => openAll(search) };
  }
  const readings = await trace.time(
    'read index of filter',
    () =>
      readSources(
        search,
        parts.map(({ source }) => source),
      ),
    (read) => ({ parts: read.map(({ kind, count }) => ({ kind, count })) }),
  );
  const known = readings.map((reading, index) => ({ part: parts[index] as FilterPart, reading }));
  // What was not seen whole is not selective.
  const many = limitSelective(plan) + 1;
  const estimate = Math.min(...readings.map(({ count, whole }) => (whole ? count : Math.max(count, many))));
  const fewest = Math.min(...readings.map(({ whole }) => whole?.length ?? Number.POSITIVE_INFINITY));
  const isFew = fewest <= fewToCheck || readings.every(({ whole }) => whole);
  const open = async () => (isFew ? openFew(known) : openMany(known, neededCount(plan.paging)));
  return {
    by: `filter: ${parts.map(({ source }) => source.kind).join(', ')}`,
    estimate,
    async open() {
      const { keys, decided } = await open();
      return { keys, check: plan.filter?.checkBeside(decided) };
    },
  };
}

/** Those that the resources of this index do not make too narrow. */
async function findUsableParts({ plan: { filter }, database }: Search): Promise<FilterPart[]> {
  const parts = filter?.parts ?? [];
  const asked = parts.flatMap(({ unlessObjects }) => unlessObjects);
  const objects = asked.length > 0 ? await findObjectPaths(database, asked) : new Set<string>();
  return parts.filter(({ unlessObjects }) => !unlessObjects.some((path) => objects.has(path)));
}

async function openAll(search: Search): Promise<Candidates> {
  const [every] = await readSources(search, [{ kind: 'fact', hash: everyResource }]);
  return { keys: every?.stream() ?? streamOnce([]), check: search.plan.filter?.checkBeside([]) };
}

interface KnownPart {
  part: FilterPart;
  reading: Reading;
}

interface Opened {
  keys: AsyncIterable<Keys>;
  /** The parts that need not be checked any more. */
  decided: FilterPart[];
}

/** What all parts have that were seen whole. */
function openFew(known: readonly KnownPart[]): Opened {
  const sets = known.flatMap(({ reading: { whole } }) => whole ?? []);
  return {
    keys: streamOnce(intersectAll(sets)),
    decided: known.flatMap(({ part, reading }) => (reading.whole ? [part] : [])),
  };
}

/** Numbers, of which each costs more to read, are streamed; lists are made sets. */
async function openMany(known: readonly KnownPart[], needed: number): Promise<Opened> {
  const listed = await Promise.all(
    known.map(async ({ part, reading }) => ({
      part,
      reading,
      set: reading.kind === 'numbers' ? reading.whole : await findWhole(reading, maxListKeys),
    })),
  );
  const inSets = listed.filter(({ set }) => set);
  const sets = inSets.flatMap(({ set }) => set ?? []);
  const decided = inSets.map(({ part }) => part);
  const lead = listed.find(({ set, reading }) => !set && (reading.kind === 'numbers' || sets.length === 0));
  if (lead === undefined) return { keys: streamOnce(intersectAll(sets)), decided };
  const wanted = lead.reading.stream({ isWanted: prepareLookup(sets), count: needed });
  return { keys: dropRepeats(wanted), decided: [...decided, lead.part] };
}

function intersectAll(sets: readonly Keys[]): Keys {
  const [first = new Float64Array(), ...others] = [...sets].sort((a, b) => a.length - b.length);
  return others.reduce(intersection, first);
}

async function* dropRepeats(parts: AsyncIterable<Keys>): AsyncGenerator<Keys> {
  const seen = new Set<number>();
  for await (const keys of parts)
    yield keys.filter((key) => {
      const isNew = !seen.has(key);
      seen.add(key);
      return isNew;
    });
}
