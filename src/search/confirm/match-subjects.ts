import { isSearched } from '../../rules/discover/served.ts';
import { findExcess } from '../../rules/geometry/complexity.ts';
import { rankOf, type TextQuery } from '../../rules/text/rank.ts';
import type { WordWeights } from '../../rules/text/word-weights.ts';
import type { AttributeEntries, Level } from '../entries/attributes.ts';
import { roots } from '../entries/geometry-paths.ts';
import { evaluateFilter } from '../filter/evaluate-filter.ts';
import type { FilterPlan, Source } from '../filter/plan.ts';
import type { Hit } from '../hit.ts';
import { headOf } from '../keys.ts';
import { columnList } from '../lists/list-numbers.ts';
import type { Plan } from '../plan.ts';
import { keysOf } from '../set/sorted.ts';
import { noGeometries, selectHits, tallyShapes } from '../spatial/constraint.ts';
import type { Tools } from '../tools.ts';
import { readSubjects, type Subject } from './read-subjects.ts';

// Compares hits with the current documents of record; drops those gone, not served or not matching. Ranks and distances come from these documents.

/** The resources that match now, unsorted. */
export async function confirmHits(
  tools: Tools,
  plan: Plan,
  text: TextQuery | undefined,
  keys: readonly number[],
): Promise<Hit[]> {
  const { reader, scope } = tools;
  const { filter, spatial } = plan;
  const isAtOffers = spatial.some(({ paths }) => paths.some((path) => path.startsWith(roots.offer)));
  const withOffers = text !== undefined || isAtOffers || filter?.isOfOffers === true;
  const subjects = await readSubjects(reader, keys, { now: scope.now, withOffers });
  const searched = subjects.filter(({ home }) => isSearched(home.state, scope, scope.now));
  return matchSubjects(tools, plan, text, searched);
}

/** The subjects that satisfy all parts of an intent. */
export async function matchSubjects(
  tools: Tools,
  plan: Pick<Plan, 'filter' | 'spatial' | 'format'>,
  text: TextQuery | undefined,
  subjects: readonly Subject[],
): Promise<Hit[]> {
  const { filter, spatial, format } = plan;
  let left = subjects;
  const memo = new Map<string, unknown>();
  const once = <T>(name: string, make: () => T): T => {
    if (!memo.has(name)) memo.set(name, make());
    return memo.get(name) as T;
  };
  if (filter) left = left.filter((subject) => mayPass(plan, filter, subject, once));
  if (filter && !isDecided(filter) && left.length > 0) {
    const passed = new Set(await evaluateFilter(tools, filter)(keysOf(left.map(({ key }) => key))));
    left = left.filter(({ key }) => passed.has(key));
  }
  const hits = left.flatMap((subject): Hit[] => {
    const { key, home, resource, offers } = subject;
    if (text === undefined) return [{ key }];
    const weigh = (level: Level, of: number, document: object): WordWeights =>
      once(`${level} words ${of}`, () => format.weights[level](document as never, format.tokenizer.index));
    const rank = rankOf(text, [
      weigh('resource', key, resource as object),
      weigh('catalog', headOf(key), home.head),
      ...offers.map((each) => weigh('offer', each.key, each.offer)),
    ]);
    return rank ? [{ key, ...rank }] : [];
  });
  return spatial.length === 0
    ? hits
    : checkPlaces(tools, plan, new Map(left.map((each) => [each.key, each])), hits);
}

/** Whether lookups in the entries of a document decide without evaluating the filter. */
function isDecided({ exact, isOfOffers, lookups }: FilterPlan): boolean {
  return exact && (!isOfOffers || lookups.offer?.exact === true);
}

type Once = <T>(name: string, make: () => T) => T;

/** Whether a filter may select a resource, by the same lookups as in the index. */
function mayPass(
  { format }: Pick<Plan, 'format'>,
  filter: FilterPlan,
  { key, home, resource, offers }: Subject,
  once: Once,
) {
  const { lookups, check } = filter;
  const holds = (level: Level, of: number, document: object) => {
    const lookup = lookups[level];
    const entries = () => format.attributes.entries(document as never, level);
    return lookup === undefined || once(`${level} ${of}`, () => isIn(lookup.source, entries()));
  };
  return (
    holds('catalog', headOf(key), home.head) &&
    (check ? check(resource) : holds('resource', key, resource as object)) &&
    (!filter.isOfOffers || offers.some((each) => holds('offer', each.key, each.offer)))
  );
}

function isIn(source: Source, entries: AttributeEntries): boolean {
  switch (source.kind) {
    case 'fact':
      return entries.facts.has(source.list);
    case 'column': {
      const { least, most } = source.range;
      for (const [path, values] of entries.numbers)
        if (columnList(path) === source.list)
          for (const value of values) if (value >= least && value <= most) return true;
      return false;
    }
    case 'any':
      return source.sources.some((each) => isIn(each, entries));
    case 'all':
      return source.sources.every((each) => isIn(each, entries));
    case 'unless objects':
      return source.paths.some((path) => entries.objects.has(path)) || isIn(source.source, entries);
  }
}

/** The hits that satisfy all constraints. */
async function checkPlaces(
  tools: Tools,
  plan: Pick<Plan, 'spatial' | 'format'>,
  subjects: ReadonlyMap<number, Subject>,
  hits: readonly Hit[],
): Promise<Hit[]> {
  let left = [...hits];
  for (const constraint of plan.spatial) {
    const shapes = left.flatMap(({ key }) => {
      const subject = subjects.get(key);
      return subject ? shapesOf(plan, subject, constraint.paths).map((shape) => ({ key, shape })) : [];
    });
    const tallies = await tallyShapes(tools, constraint, shapes);
    left = selectHits(left, constraint, (key) => tallies.get(key) ?? noGeometries);
  }
  return left;
}

/** Geometries under some paths, as texts. */
function shapesOf(
  { format }: Pick<Plan, 'format'>,
  { home, resource, offers }: Subject,
  paths: readonly string[],
): string[] {
  const { provider } = home.head as { provider?: never };
  const found = [
    ...format.geometries.find(resource, roots.resource),
    ...format.geometries.find(provider ?? null, roots.provider),
    ...offers.flatMap(({ offer }) => format.geometries.find(offer as never, roots.offer)),
  ];
  return found
    .filter(({ path, geometry }) => paths.includes(path) && !findExcess(geometry))
    .map(({ geometry }) => JSON.stringify(geometry));
}
