import type { Offer, ReceivedCatalog, Resource } from '../../protocol/catalog.ts';
import type { BaselineFile, ChangeFile, FileDirective } from '../../protocol/signed-files.ts';

// The content of a catalog from its files (self-hosted spec: Catalog file, baseline and change file). Several changes are first folded into one patch, so that many small ones copy a large catalog once, and
// a reader with the catalog in a database need not load it. In one file removals come before upserts. A replaced item keeps its position; a removed item that comes again is last.

export interface CatalogContent {
  readonly version: number;
  readonly members: CatalogLevel;
  /** By id, in the order of first appearance. */
  readonly resources: ReadonlyMap<string, Resource>;
  readonly offers: ReadonlyMap<string, Offer>;
  /** By the id of the resource; a resource without one extends nothing. */
  readonly directives: ReadonlyMap<string, FileDirective>;
}

export type CatalogLevel = Omit<ReceivedCatalog, 'resources' | 'offers'>;

export interface ContentPatch {
  readonly fromVersion: number;
  readonly toVersion: number;
  readonly members: Partial<CatalogLevel>;
  readonly resources: ListPatch<Resource>;
  readonly offers: ListPatch<Offer>;
  /** The directives of the upserted resources; other resources keep theirs. */
  readonly directives: ReadonlyMap<string, FileDirective>;
}

/** An id can be in both: then the item moves to the end. */
interface ListPatch<T> {
  readonly removals: ReadonlySet<string>;
  readonly upserts: ReadonlyMap<string, T>;
}

export type BaselineContent = Pick<BaselineFile, 'version' | 'catalog' | 'directives'>;
export type ChangeContent = Pick<
  ChangeFile,
  'fromVersion' | 'toVersion' | 'resources' | 'offers' | 'catalog' | 'directives'
>;

export function contentOfBaseline({ version, catalog, directives = [] }: BaselineContent): CatalogContent {
  const { resources = [], offers = [], ...members } = catalog;
  const byId = new Map(resources.map((resource) => [resource.id, resource]));
  return {
    version,
    members,
    resources: byId,
    offers: new Map(offers.map((offer) => [offer.id, offer])),
    directives: directivesOf(directives, byId),
  };
}

export function applyChangeFile(content: CatalogContent, file: ChangeContent): CatalogContent {
  return applyPatch(content, foldChanges([file]));
}

/** Applies the changes one after the other; each must start where the previous one ended. */
export function applyChangeFiles(content: CatalogContent, files: readonly ChangeContent[]): CatalogContent {
  return files.length === 0 ? content : applyPatch(content, foldChanges(files));
}

export function catalogOf({ members, resources, offers }: CatalogContent): ReceivedCatalog {
  return {
    ...members,
    ...(resources.size > 0 && { resources: [...resources.values()] }),
    ...(offers.size > 0 && { offers: [...offers.values()] }),
  };
}

export function foldChanges(files: readonly ChangeContent[]): ContentPatch {
  const [first] = files;
  if (first === undefined) throw new RangeError('there is no patch without a change file');
  let toVersion = first.fromVersion;
  let members: Partial<CatalogLevel> = {};
  const resources = listPatch<Resource>();
  const offers = listPatch<Offer>();
  const directives = new Map<string, FileDirective>();
  for (const file of files) {
    requireVersion(file, toVersion);
    toVersion = file.toVersion;
    members = { ...members, ...file.catalog };
    fold(resources, file.resources);
    fold(offers, file.offers);
    for (const id of [...file.resources.removals, ...file.resources.upserts.map(({ id }) => id)]) {
      directives.delete(id);
    }
    const upserted = new Set(file.resources.upserts.map(({ id }) => id));
    for (const [id, directive] of directivesOf(file.directives ?? [], upserted)) {
      directives.set(id, directive);
    }
  }
  return { fromVersion: first.fromVersion, toVersion, members, resources, offers, directives };
}

function applyPatch(content: CatalogContent, patch: ContentPatch): CatalogContent {
  requireVersion(patch, content.version);
  return {
    version: patch.toVersion,
    members: { ...content.members, ...patch.members },
    resources: patched(content.resources, patch.resources),
    offers: patched(content.offers, patch.offers),
    directives: patched(content.directives, {
      removals: new Set([...patch.resources.removals, ...patch.resources.upserts.keys()]),
      upserts: patch.directives,
    }),
  };
}

function requireVersion({ fromVersion }: { fromVersion: number }, version: number): void {
  if (fromVersion !== version) {
    throw new RangeError(`a change from version ${fromVersion} cannot be applied to version ${version}`);
  }
}

/** A directive applies only to a resource of its own file. */
function directivesOf(directives: readonly FileDirective[], resources: { has(id: string): boolean }) {
  const own = directives.filter(({ resourceId }) => resources.has(resourceId));
  return new Map(own.map((directive) => [directive.resourceId, directive]));
}

function fold<T extends { id: string }>(
  { removals, upserts }: MutableListPatch<T>,
  change: { removals: readonly string[]; upserts: readonly T[] },
): void {
  for (const id of change.removals) {
    upserts.delete(id);
    removals.add(id);
  }
  for (const item of change.upserts) upserts.set(item.id, item);
}

/** An unchanged list is not copied. */
function patched<T>(list: ReadonlyMap<string, T>, { removals, upserts }: ListPatch<T>) {
  if (removals.size + upserts.size === 0) return list;
  const result = new Map(list);
  for (const id of removals) result.delete(id);
  for (const [id, item] of upserts) result.set(id, item);
  return result;
}

function listPatch<T>(): MutableListPatch<T> {
  return { removals: new Set(), upserts: new Map() };
}

interface MutableListPatch<T> extends ListPatch<T> {
  readonly removals: Set<string>;
  readonly upserts: Map<string, T>;
}
