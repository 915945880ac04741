import type { Geometry } from '../protocol/geojson.ts';
import { Recent } from '../recent.ts';
import type { SphereBox } from '../rules/geometry/sphere-box.ts';
import { keyOf } from './discovery-keys.ts';
import { lowerBound } from './key-list.ts';
import { type Cell, touches } from './place-grid.ts';

// Geometries of the cells that were looked into lately. Whoever is told that a catalog has changed does not know where its geometries stand now: that
// has to be read before anything is found here again (discovery-places.ts). A cell is held against what has changed only when it is looked into.

export interface StoredGeometry {
  key: number;
  position: number;
  /** GeoJSON text. */
  shape: string;
  /** The same, once it was needed. */
  geometry?: Geometry;
}

export interface Place {
  path: string;
  box: SphereBox;
}

export interface PlacedGeometry extends StoredGeometry, Place {}

export interface KnownCell extends Place {
  /** Whether something is indexed under the path, here or elsewhere. */
  isPathKnown: boolean;
  /** All that touch the cell, in the order of keys; undefined where they are too many to be remembered. */
  geometries?: readonly PlacedGeometry[];
}

interface Kept {
  cell: KnownCell;
  keys: Float64Array;
  bytes: number;
  /** It was held against so many of the changes. */
  upTo: number;
}

interface Change {
  catalogs: readonly number[];
  /** Where their geometries stand since. */
  placed: readonly Place[];
}

/** A cell that was not looked into for so long is read again. */
const maxChanges = 200;
/** What a geometry takes beside its text, about: as much again when it was read. */
const geometryBytes = 400;
const cellBytes = 500;

export class PlaceMemory {
  /** Catalogs that have changed, and whose geometries were not read since. */
  readonly unread = new Set<number>();
  private readonly cells: Recent<string, Kept>;
  /** The latest ones. */
  private readonly changes: Change[] = [];
  private changeCount = 0;

  constructor(maxBytes: number) {
    this.cells = new Recent(maxBytes, ({ bytes }) => bytes);
  }

  find(path: string, { name }: Cell): KnownCell | undefined {
    const kept = this.cells.find(nameOf(path, name));
    if (kept === undefined) return undefined;
    const first = kept.upTo - (this.changeCount - this.changes.length);
    const isOutdated = first < 0 || this.changes.slice(first).some((change) => concerns(change, kept));
    kept.upTo = this.changeCount;
    if (isOutdated) this.cells.forget(nameOf(path, name));
    return isOutdated ? undefined : kept.cell;
  }

  keep({ name }: Cell, cell: KnownCell): void {
    const keys = Float64Array.from(cell.geometries ?? [], ({ key }) => key);
    this.cells.keep(nameOf(cell.path, name), { cell, keys, bytes: sizeOf(cell), upTo: this.changeCount });
  }

  noteChanged(catalogKey: number): void {
    if (this.cells.count > 0) this.unread.add(catalogKey);
  }

  /** Tells where the geometries of changed catalogs stand now. */
  noteRead(catalogs: readonly number[], placed: Change['placed']): void {
    const fresh = catalogs.filter((key) => this.unread.delete(key));
    if (fresh.length === 0) return;
    this.changes.push({ catalogs: fresh, placed });
    this.changeCount++;
    if (this.changes.length > maxChanges) this.changes.shift();
  }

  clear(): void {
    this.cells.clear();
    this.unread.clear();
    this.changes.length = 0;
  }
}

function nameOf(path: string, cell: string): string {
  return `${cell} ${path}`;
}

/** Whether a cell held a geometry of these catalogs, or would hold one now. Of a cell that holds too many nothing is known. */
function concerns({ catalogs, placed }: Change, { cell, keys }: Kept): boolean {
  const { path, box, isPathKnown, geometries } = cell;
  if (!isPathKnown) return placed.some((each) => each.path === path);
  if (geometries === undefined) return false;
  const isOf = (catalog: number) => {
    const first = keys[lowerBound(keys, keyOf(catalog, 0))];
    return first !== undefined && first < keyOf(catalog + 1, 0);
  };
  return catalogs.some(isOf) || placed.some((each) => each.path === path && touches(each.box, box));
}

function sizeOf({ geometries = [] }: KnownCell): number {
  return geometries.reduce((sum, { shape }) => sum + 2 * shape.length + geometryBytes, cellBytes);
}
