import type { IndexReader } from '../cache/caches.ts';
import { everyDocument, membersOf } from '../documents/members.ts';
import { coveredBy } from '../documents/own-offers.ts';
import { findObjectPaths } from '../entries/object-paths.ts';
import { listSet } from '../lists/list-set.ts';
import { openLists } from '../lists/read-lists.ts';
import { checkedBy, type DocSet, intersectionOf, unionOf } from '../set/doc-set.ts';
import type { Keys } from '../set/sorted.ts';
import type { Tools } from '../tools.ts';
import { evaluateFilter, selectEach } from './evaluate-filter.ts';
import type { FilterPlan, Source } from './plan.ts';

// The resources that a filter selects, as a set: from lists, which also check other parts' candidates (`among`), or else by evaluating documents.

/** In key order, across all catalogs. */
export async function openFilter(tools: Tools, plan: FilterPlan): Promise<DocSet> {
  const { reader, scope, trace } = tools;
  const { catalog, resource, offer } = plan.lookups;
  const sources = [catalog, resource, offer].flatMap((lookup) => lookup?.source ?? []);
  const open = await trace.time('open lists of filter', () => openSources(reader, sources));
  const [catalogs, resources, offers] = [catalog, resource, offer].map((each) => each && open(each.source));
  const test = offer?.exact ? undefined : (keys: Keys) => selectEach(tools, plan, 'offer', keys);
  const sets: DocSet[] = [];
  if (catalogs) sets.push(membersOf(reader, catalogs));
  if (resources) sets.push(resources);
  if (plan.isOfOffers)
    sets.push(coveredBy(reader, offers ?? everyDocument(reader, 'offer'), { now: scope.now, test }));
  trace.note('filter', { sets: sets.map(({ estimate }) => estimate), isExact: plan.exact });
  const set = sets.length > 0 ? intersectionOf(sets) : everyDocument(reader, 'resource');
  return plan.exact ? set : checkedBy(set, evaluateFilter(tools, plan));
}

/** Opens all lists of some sources with one statement. A source has no set if documents of the index make it too narrow. */
async function openSources(reader: IndexReader, sources: readonly Source[]) {
  const objects = await findObjectPaths(reader, reader.index, sources.flatMap(pathsOf));
  const directories = await openLists(reader, [...new Set(sources.flatMap(listsOf))]);
  const open = (source: Source): DocSet | undefined => {
    switch (source.kind) {
      case 'unless objects':
        return source.paths.some((path) => objects.has(path)) ? undefined : open(source.source);
      case 'any': {
        const sets = source.sources.map(open);
        return sets.every((set) => set !== undefined) ? unionOf(sets) : undefined;
      }
      case 'all': {
        const sets = source.sources.flatMap((each) => open(each) ?? []);
        return sets.length > 0 ? intersectionOf(sets) : undefined;
      }
      default: {
        const directory = directories.get(source.list);
        if (source.kind === 'fact') return directory && listSet(reader, directory);
        const { least, most } = source.range;
        return directory && listSet(reader, directory, (value) => value >= least && value <= most);
      }
    }
  };
  return open;
}

function listsOf(source: Source): number[] {
  if ('sources' in source) return source.sources.flatMap(listsOf);
  return source.kind === 'unless objects' ? listsOf(source.source) : [source.list];
}

function pathsOf(source: Source): string[] {
  if ('sources' in source) return source.sources.flatMap(pathsOf);
  return source.kind === 'unless objects' ? [...source.paths, ...pathsOf(source.source)] : [];
}
