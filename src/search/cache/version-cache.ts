import type { IndexedVersions } from '../documents/catalogs.ts';

// Which versions the entries of the index have (format/index-format.ts). As a rule it is one; while catalogs are rebuilt, those that are not are kept by name.

export class VersionCache {
  /** Every version that some entry has, or is about to have, the newest first; undefined: not read. */
  inUse: readonly number[] | undefined;
  /** Catalogs that have not the newest one, by their keys: their version, or versions; undefined: not read. */
  catalogs: Map<number, number | IndexedVersions> | undefined;
  /** Catalogs that were written since they were read, or began to be. */
  readonly unread = new Set<number>();
  /** The newest version, when the catalogs were read. */
  newest: number | undefined;
  /** Catalogs are being read: one read at a time, for all searches. */
  reading: Promise<void> | undefined;
  isWatching = false;
  /** Counts catalogs that were seen to have changed their version, and how often all were forgotten. */
  changes = 0;

  noteChanged(catalogKey: number): void {
    if (this.isWatching) this.unread.add(catalogKey);
    // It may have been the last one to be rebuilt. Or a long transaction wrote a new catalog in the version before, and commits only now that all others are rebuilt.
    this.inUse = undefined;
  }

  clear(): void {
    this.inUse = undefined;
    this.catalogs = undefined;
    this.isWatching = false;
    this.unread.clear();
    this.changes++;
  }
}
