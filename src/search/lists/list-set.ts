import type { Directory, IndexReader, Run } from '../cache/caches.ts';
import { type DocSet, nextLeft } from '../set/doc-set.ts';
import { dropRepeats, type Keys, lowerBound } from '../set/sorted.ts';
import { loadRuns, openLists, readNear, runAt, selectIn, unmarked } from './read-lists.ts';
import type { RunKey } from './runs.ts';

/** The documents of a list: all of a posting list, those with a matching value of a column. */
export function listSet(
  reader: IndexReader,
  directory: Directory,
  passes?: (mark: number) => boolean,
): DocSet {
  const stream = streamRuns(reader, directory);
  const select = (part: Run) => selectKeys(part, passes);
  return {
    estimate: directory.count,
    next: (limit) => nextLeft(() => stream(limit), select),
    async among(keys) {
      const near = await readNear(reader, [directory.list], keys);
      return selectIn(near.get(directory.list) ?? [], keys, passes);
    },
  };
}

function selectKeys({ keys, marks }: Run, passes: ((mark: number) => boolean) | undefined): Keys {
  if (passes === undefined) return dropRepeats(keys);
  const selected = new Float64Array(keys.length);
  let count = 0;
  for (let index = 0; index < keys.length; index++)
    if (passes(marks[index] as number)) selected[count++] = keys[index] as number;
  return dropRepeats(selected.subarray(0, count));
}

/** The entries of a list in order, in batches of about the requested size. Continues from the same key after a compaction. */
export function streamRuns(reader: IndexReader, opened: Directory) {
  let directory = opened;
  let position = Number.NEGATIVE_INFINITY;
  let done = 0;
  return async (limit: number): Promise<Run | undefined> => {
    while (position < Number.POSITIVE_INFINITY) {
      while ((directory.last[done] ?? Number.POSITIVE_INFINITY) < position) done++;
      const { runs, end } = findNext(directory, done, position, limit);
      const loaded = await loadRuns(reader, runs);
      if (loaded === undefined) {
        directory = (await openLists(reader, [directory.list])).get(directory.list) ?? directory;
        done = 0;
        continue;
      }
      const part = joinWithShared(directory, loaded, position, end);
      position = end;
      if (part.keys.length > 0) return part;
    }
    return undefined;
  };
}

/** The next runs with about `limit` entries, and the key up to which they are complete. */
function findNext(directory: Directory, start: number, position: number, limit: number) {
  const runs: RunKey[] = [];
  let count = 0;
  for (let index = start; index < directory.first.length; index++) {
    const first = directory.first[index] as number;
    if ((directory.last[index] as number) < position) continue;
    if (count >= limit && first > position) return { runs, end: first };
    runs.push(runAt(directory, index));
    count += directory.counts[index] as number;
  }
  return { runs, end: Number.POSITIVE_INFINITY };
}

/** The entries of runs, and of shared ones, from one key (inclusive) to another (exclusive). Entries with the same key are in the order of marks. */
function joinWithShared({ shared }: Directory, runs: readonly Run[], from: number, end: number): Run {
  const slices = [...runs, unmarked(shared)].map(({ keys, marks }) => {
    const [start, stop] = [lowerBound(keys, from), lowerBound(keys, end)];
    return { keys: keys.subarray(start, stop), marks: marks.subarray(start, stop) };
  });
  const count = slices.reduce((sum, { keys }) => sum + keys.length, 0);
  const [keys, marks] = [new Float64Array(count), new Float64Array(count)];
  let at = 0;
  for (const slice of slices) {
    keys.set(slice.keys, at);
    marks.set(slice.marks, at);
    at += slice.keys.length;
  }
  const keyAt = (index: number) => keys[index] as number;
  const markAt = (index: number) => marks[index] as number;
  // Most are already in order: runs overlap only until they are compacted, or later in the list.
  if (keys.every((key, index) => index === 0 || key > keyAt(index - 1))) return { keys, marks };
  const order = Uint32Array.from(keys.keys()).sort((a, b) => keyAt(a) - keyAt(b) || markAt(a) - markAt(b));
  return { keys: Float64Array.from(order, keyAt), marks: Float64Array.from(order, markAt) };
}
