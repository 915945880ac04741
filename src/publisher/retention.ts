import type { ChangeReference, IndexEntry } from '../protocol/signed-files.ts';
import { announcedVersion } from '../rules/self-hosted/reading-plan.ts';
import { type ContentFile, pathOfUrl } from './paths.ts';

// How long superseded files stay (self-hosted spec: Limits): a change that a baseline has taken in stays listed for one
// `next_update` cycle from then on, and what is listed no more stays on the disk for another, because somebody may still be reading an
// older index. All of it follows from the tree: a baseline carries as its own `next_update` the end of the cycle in which it was written.

export interface BaselineOnDisk {
  path: string;
  version: number;
  cycleEnd: Date;
}

export function findExpiredChanges(
  { changes, baseline }: IndexEntry,
  baselines: readonly BaselineOnDisk[],
  now: Date,
): Set<ChangeReference> {
  const superseded = changes.filter(({ toVersion }) => baseline && toVersion <= baseline.version);
  return new Set(superseded.filter(({ toVersion }) => wasTakenInBefore(toVersion, baselines, now)));
}

export function findUnlistedFiles(entry: IndexEntry | undefined, files: readonly ContentFile[]) {
  const listed = new Set(entry?.changes.map(({ url }) => pathOfUrl('change', url)));
  if (entry?.baseline) listed.add(pathOfUrl('baseline', entry.baseline.url));
  return files.filter(({ path }) => !listed.has(path));
}

/** The files that nobody needs, judged by the published entry and all baselines on the disk. */
export function findNeedlessFiles(
  entry: IndexEntry | undefined,
  unlisted: readonly ContentFile[],
  baselines: readonly BaselineOnDisk[],
  { now, cycleSeconds }: { now: Date; cycleSeconds: number },
): ContentFile[] {
  const oneCycleAgo = new Date(now.getTime() - cycleSeconds * 1000);
  if (entry?.retiredAt !== undefined) return new Date(entry.retiredAt) <= oneCycleAgo ? [...unlisted] : [];
  const reached = (entry && announcedVersion(entry)) ?? 0;
  const current = entry?.baseline && findByUrl(baselines, entry.baseline.url);
  return unlisted.filter(({ kind, path, version }) => {
    // The writer died before it came to the index.
    if (version > reached) return true;
    if (kind === 'change') return wasTakenInBefore(version, baselines, oneCycleAgo);
    const own = baselines.find((baseline) => baseline.path === path);
    if (own === undefined || current === undefined) return false;
    // Likewise: who comes to the index does so with the latest baseline of all. Only an earlier version may belong to a cycle that was longer.
    if (own.cycleEnd > current.cycleEnd && own.version >= current.version) return true;
    const isLater = (other: BaselineOnDisk) =>
      other !== own && (other.cycleEnd >= own.cycleEnd || other.version > own.version);
    return own.cycleEnd <= now && baselines.some((other) => isLater(other) && other.cycleEnd <= now);
  });
}

/** Whether the cycle was over by then in which a baseline took in the changes up to a version; the first to do so counts. */
function wasTakenInBefore(version: number, baselines: readonly BaselineOnDisk[], time: Date): boolean {
  return baselines.some((baseline) => baseline.version >= version && baseline.cycleEnd <= time);
}

function findByUrl(baselines: readonly BaselineOnDisk[], url: string): BaselineOnDisk | undefined {
  const path = pathOfUrl('baseline', url);
  return baselines.find((baseline) => baseline.path === path);
}
