import type { CatalogType } from '../protocol/catalog.ts';
import { signDocument } from '../protocol/signed-document.ts';
import type {
  BaselineReference,
  ChangeReference,
  IndexEntry,
  MasterDependency,
} from '../protocol/signed-files.ts';
import { isSameValue } from '../rules/same-value.ts';
import { type FileKind, pathOfUrl, urlOf } from './paths.ts';
import type { Seal } from './seal.ts';

// The entry of a catalog in the index (self-hosted spec: Catalog index). Every change of an entry raises its version.

/** Members of an entry that describe the catalog, without the references to its files. */
export interface EntryFacts {
  catalogId: string;
  catalogType: CatalogType;
  /** Absent: for every crawler. */
  networkIds?: string[];
  schemaTypes?: string[];
  isActive: boolean;
  masters: MasterDependency[];
}

export interface EntryLinks {
  baseline?: BaselineReference;
  changes: ChangeReference[];
}

export function signEntry(
  before: IndexEntry | undefined,
  { catalogId, catalogType, networkIds, schemaTypes, isActive, masters }: EntryFacts,
  { baseline, changes }: EntryLinks,
  { key, profile }: Pick<Seal, 'key' | 'profile'>,
): IndexEntry {
  const entry: Omit<IndexEntry, 'signature'> = {
    catalogId,
    entryVersion: (before?.entryVersion ?? 0) + 1,
    catalogType,
    ...(networkIds && { networkIds }),
    ...(schemaTypes && { schemaTypes }),
    isActive,
    ...(baseline && { baseline }),
    changes,
    ...(masters.length > 0 && { dependencies: { masters } }),
  };
  return signDocument(entry, key, profile);
}

/** The files of an entry, under today's base address, without changes that need no longer be listed. */
export function linksOf(
  { baseline, changes }: IndexEntry,
  expired: ReadonlySet<ChangeReference> | undefined,
  baseUrl: string,
): EntryLinks {
  const hereAs = <T extends { url: string }>(kind: FileKind, file: T): T => {
    return { ...file, url: urlOf(baseUrl, pathOfUrl(kind, file.url)) };
  };
  return {
    ...(baseline && { baseline: hereAs('baseline', baseline) }),
    changes: changes.filter((change) => !expired?.has(change)).map((change) => hereAs('change', change)),
  };
}

/** "One-way: never unset" (self-hosted spec: States and transitions). Nothing refers to the files any more. */
export function signRetiredEntry(
  { catalogId, entryVersion, catalogType, networkIds }: IndexEntry,
  retiredAt: string,
  { key, profile }: Pick<Seal, 'key' | 'profile'>,
): IndexEntry {
  const entry = {
    catalogId,
    entryVersion: entryVersion + 1,
    catalogType,
    ...(networkIds && { networkIds }),
    retiredAt,
  };
  return { isActive: false, changes: [], ...signDocument(entry, key, profile) };
}

/** The signed form of an entry: a retired one has neither its activity nor its files. */
export function signedForm(entry: IndexEntry): object {
  const { isActive: _isActive, changes: _changes, ...retired } = entry;
  return entry.retiredAt === undefined ? entry : retired;
}

export function factsOfEntry(entry: IndexEntry): EntryFacts {
  const { catalogId, catalogType, networkIds, schemaTypes, isActive, dependencies } = entry;
  return { catalogId, catalogType, networkIds, schemaTypes, isActive, masters: dependencies?.masters ?? [] };
}

export function saysTheSame(entry: IndexEntry, facts: EntryFacts): boolean {
  return isSameValue(withoutAbsent(factsOfEntry(entry)), withoutAbsent(facts));
}

function withoutAbsent(facts: EntryFacts): object {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
