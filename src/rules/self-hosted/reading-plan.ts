import type { BaselineReference, ChangeReference, IndexEntry } from '../../protocol/signed-files.ts';

// Which files a reader fetches to get from its cursor to the announced version of an entry (self-hosted spec: Endpoints, Cutover rule; Versioning).
// There are two ways: the changes after the cursor, or the baseline and the changes after it.
//
//   rollback   the entry, or its announced version, is behind the cursor: nothing of it is read
//   nothing    the cursor is at that version; any change is in the entry itself
//   changes    the first way
//   baseline   the second, for a reader that holds nothing, or if the changes have a gap or are large: more than a
//              fraction of a baseline that is newer than the cursor
//   gap        neither way leads to the announced version; `readable` is how far one of them does

export interface Cursor {
  entryVersion: number;
  version: number;
  /** The content can no longer be trusted, because its key was revoked: only a baseline helps. */
  mustReread?: boolean;
}

interface ReadingOptions {
  /** Maximum size of the pending changes, as a fraction of the baseline (CUTOVER_FRACTION). */
  cutoverFraction: number;
  /** Sizes, by URL, of fetched changes whose entry declares none. */
  fetchedSizes?: ReadonlyMap<string, number>;
  /** URLs of files that were fetched and are unusable: they are treated as missing. */
  unreadable?: ReadonlySet<string>;
}

export type Reading =
  | { kind: 'nothing' }
  | { kind: 'changes'; changes: ChangeReference[] }
  | { kind: 'baseline'; baseline: BaselineReference; changes: ChangeReference[] };

export interface Rollback {
  kind: 'rollback';
  of: 'entryVersion' | 'version';
  stored: number;
  offered: number;
}

export type ReadingPlan =
  | Reading
  | Rollback
  | { kind: 'gap'; announced: number; reached: number | undefined; readable: Reading };

export type ReadableEntry = Pick<IndexEntry, 'entryVersion' | 'baseline' | 'changes'>;

export function planReading(
  entry: ReadableEntry,
  cursor: Cursor | undefined,
  options: ReadingOptions,
): ReadingPlan {
  const announced = announcedVersion(entry);
  const rollback = cursor && findRollback(entry, announced, cursor);
  if (rollback) return rollback;
  if (announced === undefined) return { kind: 'nothing' };
  const held = cursor?.mustReread ? undefined : cursor?.version;
  if (held === announced) return { kind: 'nothing' };

  const changes = held === undefined ? undefined : readChanges(held, entry, options);
  const baseline = readBaseline(entry, options);
  const leadsThere = (way: Way | undefined): way is Way => way?.reached === announced;
  const cutsOver = leadsThere(baseline) && exceedsFraction(changes, entry, held, options);
  if (leadsThere(changes) && !cutsOver) return changes.reading;
  if (leadsThere(baseline)) return baseline.reading;

  const [best] = [changes, baseline]
    .filter((way) => way !== undefined)
    .filter(({ reached }) => cursor === undefined || reached >= cursor.version)
    .sort((one, other) => other.reached - one.reached);
  return { kind: 'gap', announced, reached: best?.reached, readable: best?.reading ?? { kind: 'nothing' } };
}

/** The content version of an entry; undefined if the entry names no files, because it is retired. */
export function announcedVersion({ baseline, changes }: Omit<ReadableEntry, 'entryVersion'>) {
  return changes.reduce<number | undefined>(
    (highest, { toVersion }) => Math.max(highest ?? toVersion, toVersion),
    baseline?.version,
  );
}

interface Way {
  reached: number;
  reading: Reading;
}

function findRollback(
  { entryVersion }: ReadableEntry,
  announced: number | undefined,
  cursor: Cursor,
): Rollback | undefined {
  if (entryVersion < cursor.entryVersion) {
    return { kind: 'rollback', of: 'entryVersion', stored: cursor.entryVersion, offered: entryVersion };
  }
  if (announced !== undefined && announced < cursor.version) {
    return { kind: 'rollback', of: 'version', stored: cursor.version, offered: announced };
  }
  return undefined;
}

function readChanges(version: number, entry: ReadableEntry, options: ReadingOptions): Way {
  const { reached, changes } = followChanges(version, entry, options);
  return { reached, reading: changes.length === 0 ? { kind: 'nothing' } : { kind: 'changes', changes } };
}

function readBaseline(entry: ReadableEntry, options: ReadingOptions): Way | undefined {
  const { baseline } = entry;
  if (baseline === undefined || options.unreadable?.has(baseline.url)) return undefined;
  const { reached, changes } = followChanges(baseline.version, entry, options);
  return { reached, reading: { kind: 'baseline', baseline, changes } };
}

/** Changes that a baseline superseded are still listed for a while: only those that start at our version count. */
function followChanges(version: number, { changes }: ReadableEntry, { unreadable }: ReadingOptions) {
  const next = new Map<number, ChangeReference>();
  for (const change of changes) {
    const other = next.get(change.fromVersion);
    if (unreadable?.has(change.url) || (other && other.toVersion >= change.toVersion)) continue;
    next.set(change.fromVersion, change);
  }
  const followed: ChangeReference[] = [];
  let reached = version;
  for (let change = next.get(reached); change !== undefined; change = next.get(reached)) {
    followed.push(change);
    reached = change.toVersion;
  }
  return { reached, changes: followed };
}

/** A baseline that is no newer than the cursor saves none of the pending changes. */
function exceedsFraction(
  way: Way | undefined,
  { baseline }: ReadableEntry,
  held: number | undefined,
  { cutoverFraction, fetchedSizes }: ReadingOptions,
): boolean {
  if (way?.reading.kind !== 'changes' || held === undefined || baseline === undefined) return false;
  const sizeOf = ({ size, url }: ChangeReference) => size ?? fetchedSizes?.get(url) ?? 0;
  const pending = way.reading.changes.reduce((sum, change) => sum + sizeOf(change), 0);
  return baseline.version > held && pending > cutoverFraction * baseline.size;
}
