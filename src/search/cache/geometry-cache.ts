import { LruCache } from '../../lru-cache.ts';
import { type SphereBox, touches } from '../../rules/geometry/sphere-box.ts';
import { catalogKeyOf } from '../documents/keys.ts';
import type { Cell } from '../spatial/grid.ts';
import type { BoxedGeometry } from '../spatial/read-geometries.ts';

// A cache of geometries by the cells of a grid (spatial/grid.ts). The change log names changed catalogs, not where their geometries are now. So the geometries of changed catalogs
// are read first (spatial/look-around.ts), and cells are brought up to date when they are looked into.

export interface KnownCell {
  path: string;
  box: SphereBox;
  /** All that touch the cell, in the order of keys; undefined where they are too many, or too long, to be cached. */
  geometries: readonly BoxedGeometry[] | undefined;
}

interface Kept {
  cell: KnownCell;
  /** It knows of so many of the changes. */
  upTo: number;
}

interface Change {
  catalogs: ReadonlySet<number>;
  /** All that they have since. */
  geometries: readonly BoxedGeometry[];
}

/** A cell that was not looked into for so long is read again. */
const maxChanges = 100;
/** When more catalogs have changed, all is read again as it is needed. */
const maxUnread = 100;
/** What a geometry takes beside its text, about: as much again when it was parsed. */
const geometryBytes = 400;
const cellBytes = 900;
/** Where updates bring more, the cell is no longer cached. */
const maxInCell = 2_500;

export class GeometryCache {
  /** Catalogs that have changed, and whose geometries were not read since. */
  readonly unread = new Set<number>();
  private readonly cells: LruCache<string, Kept>;
  /** The latest ones. */
  private readonly changes: Change[] = [];
  private changeCount = 0;

  constructor(maxBytes: number) {
    this.cells = new LruCache(maxBytes, ({ cell }) => sizeOf(cell));
  }

  find(path: string, cell: Cell): KnownCell | undefined {
    const name = nameOf(path, cell);
    const kept = this.cells.find(name);
    if (kept === undefined) return undefined;
    const known = this.bringUpToDate(kept);
    if (known === undefined) this.cells.forget(name);
    else if (known === kept.cell) kept.upTo = this.changeCount;
    else this.cells.keep(name, { cell: known, upTo: this.changeCount });
    return known;
  }

  keep(cell: Cell, known: KnownCell): void {
    this.cells.keep(nameOf(known.path, cell), { cell: known, upTo: this.changeCount });
  }

  noteChanged(catalogKey: number): void {
    if (this.cells.count > 0) this.unread.add(catalogKey);
    if (this.unread.size > maxUnread) this.clear();
  }

  /** Tells what geometries changed catalogs have now. */
  noteRead(catalogs: readonly number[], geometries: readonly BoxedGeometry[]): void {
    const isFresh = catalogs.filter((key) => this.unread.delete(key)).length > 0;
    if (!isFresh) return;
    this.changes.push({ catalogs: new Set(catalogs), geometries });
    this.changeCount++;
    if (this.changes.length > maxChanges) this.changes.shift();
  }

  clear(): void {
    this.cells.clear();
    this.unread.clear();
    this.changes.length = 0;
  }

  /** Undefined where a cell has to be read again. */
  private bringUpToDate({ cell, upTo }: Kept): KnownCell | undefined {
    const first = upTo - (this.changeCount - this.changes.length);
    if (first < 0) return undefined;
    let known = cell;
    for (const change of this.changes.slice(first)) {
      if (isAffected(known, change)) known = updateCell(known, change);
    }
    return known;
  }
}

function nameOf(path: string, { name }: Cell): string {
  return `${name} ${path}`;
}

/** Whether a cell held a geometry of these catalogs, or would hold one now. Of a cell that holds too many nothing is known. */
function isAffected(cell: KnownCell, { catalogs, geometries }: Change): boolean {
  if (cell.geometries === undefined) return false;
  const isOfThese = ({ key }: BoxedGeometry) => catalogs.has(catalogKeyOf(key));
  return cell.geometries.some(isOfThese) || geometries.some((each) => isIn(cell, each));
}

function isIn(cell: KnownCell, { path, box }: BoxedGeometry): boolean {
  return path === cell.path && touches(box, cell.box);
}

function updateCell(cell: KnownCell, { catalogs, geometries }: Change): KnownCell {
  const others = cell.geometries?.filter(({ key }) => !catalogs.has(catalogKeyOf(key))) ?? [];
  const theirs = geometries.filter((each) => isIn(cell, each));
  const all = [...others, ...theirs].sort((a, b) => a.key - b.key);
  return { ...cell, geometries: all.length > maxInCell ? undefined : all };
}

function sizeOf({ path, geometries = [] }: KnownCell): number {
  return geometries.reduce(
    (sum, { shape }) => sum + 2 * shape.length + geometryBytes,
    cellBytes + 2 * path.length,
  );
}
