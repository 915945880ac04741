import type { ChangeReference, IndexEntry } from '../protocol/signed-files.ts';
import { announcedVersion } from '../rules/self-hosted/reading-plan.ts';
import { type ContentFile, pathOfUrl } from './paths.ts';

// How long superseded files stay (self-hosted spec: Limits): after a baseline has included a change, the change stays listed for one
// `next_update` cycle, and unlisted files stay on the disk for another one, because readers may still have an older index. The tree
// contains all of this information: a baseline's own `next_update` is the end of the cycle in which it was written.

interface BaselineOnDisk {
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

/** The files that nobody needs, based on the published entry and all baselines on the disk. */
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
    // The writer died before it updated the index.
    if (version > reached) return true;
    if (kind === 'change') return wasTakenInBefore(version, baselines, oneCycleAgo);
    const own = baselines.find((baseline) => baseline.path === path);
    if (own === undefined || current === undefined) return false;
    // Likewise: an index always gets the latest baseline. Only an earlier version may belong to a longer cycle.
    if (own.cycleEnd > current.cycleEnd && own.version >= current.version) return true;
    const isLater = (other: BaselineOnDisk) =>
      other !== own && (other.cycleEnd >= own.cycleEnd || other.version > own.version);
    return own.cycleEnd <= now && baselines.some((other) => isLater(other) && other.cycleEnd <= now);
  });
}

/** Whether the cycle of the first baseline that includes the changes up to a version was over by then. */
function wasTakenInBefore(version: number, baselines: readonly BaselineOnDisk[], time: Date): boolean {
  return baselines.some((baseline) => baseline.version >= version && baseline.cycleEnd <= time);
}

function findByUrl(baselines: readonly BaselineOnDisk[], url: string): BaselineOnDisk | undefined {
  const path = pathOfUrl('baseline', url);
  return baselines.find((baseline) => baseline.path === path);
}
