import type { IndexedVersions } from '../documents/catalogs.ts';

// Which versions the entries of the index have (format/index-format.ts). As a rule it is one; while catalogs are rebuilt, those that are not are kept by name.

export class VersionCache {
  /** Every version that some entry has, or is about to have, the newest first; undefined: not read. */
  inUse: readonly number[] | undefined;
  /** Catalogs that have not the newest one, by their keys: their version, or versions; undefined: not read. */
  catalogs: Map<number, number | IndexedVersions> | undefined;
  /** Catalogs that were written since they were read, or began to be. */
  readonly unread = new Set<number>();
  isWatching = false;
  /** Counts catalogs that were seen to have changed their version. */
  changes = 0;

  noteChanged(catalogKey: number): void {
    if (this.isWatching) this.unread.add(catalogKey);
    // The last one may have been rebuilt.
    if (this.inUse && this.inUse.length > 1) this.inUse = undefined;
  }

  clear(): void {
    this.inUse = undefined;
    this.catalogs = undefined;
    this.isWatching = false;
    this.unread.clear();
    this.changes++;
  }
}
