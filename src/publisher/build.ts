import type { CatalogType } from '../protocol/catalog.ts';
import { signDocument } from '../protocol/signed-document.ts';
import type {
  BaselineReference,
  ChangeReference,
  IndexEntry,
  MasterDependency,
} from '../protocol/signed-files.ts';
import { isSameValue } from '../rules/same-value.ts';
import { applyChangeFile, type CatalogContent, catalogOf } from '../rules/self-hosted/content.ts';
import { announcedVersion } from '../rules/self-hosted/reading-plan.ts';
import { type ContentDiff, diffContent, losesMember } from './diff.ts';
import { type Seal, type SealedFile, sealFile } from './seal.ts';
import type { NextContent } from './submission.ts';

// What a publish writes (self-hosted spec: Endpoints, Local trigger): from what is published and what shall be, to the files
// and the signed entry. Pure: nothing is read or written here, and the time is an argument.
//
//   unchanged    nothing
//   entry        content is the same, what the entry says of it is not: a new entry, no file
//   change       a change file
//   compaction   a change file, and a baseline of the same version because the changes have become many or large
//   baseline     the first publish, one that was asked to be a baseline, or what no change file can express

/** What an entry says of its catalog beside where the files are. */
export interface EntryFacts {
  catalogId: string;
  catalogType: CatalogType;
  networkIds?: string[];
  schemaTypes?: string[];
  isActive: boolean;
  masters: MasterDependency[];
}

export interface PublishedCatalog {
  entry: IndexEntry;
  /** Absent where the files can no longer be read. */
  content?: CatalogContent;
}

export interface BuildOptions extends Seal {
  now: Date;
  nextUpdateSeconds: number;
  /** Number of changes since the baseline, and their size as a fraction of it, that make a new baseline. */
  compactionChanges: number;
  compactionFraction: number;
  forceBaseline?: boolean;
}

export interface Built {
  kind: 'unchanged' | 'entry' | 'change' | 'compaction' | 'baseline';
  entry: IndexEntry;
  content: CatalogContent;
  files: SealedFile[];
}

export function buildPublish(
  current: PublishedCatalog | undefined,
  facts: EntryFacts,
  next: NextContent,
  options: BuildOptions,
): Built {
  if (current?.content === undefined || losesMember(current.content, next)) {
    const version = ((current && announcedVersion(current.entry)) ?? 0) + 1;
    return buildBaseline(current?.entry, facts, { ...next, version }, options);
  }
  const { entry, content } = current;
  const diff = diffContent(content, next);
  if (options.forceBaseline) {
    const version = content.version + (diff ? 1 : 0);
    return buildBaseline(entry, facts, { ...next, version }, options);
  }
  if (diff) return buildChange(entry, facts, content, diff, options);
  const same = entryOf(entry, facts, entry, options);
  return isSameEntry(entry, same)
    ? { kind: 'unchanged', entry, content, files: [] }
    : { kind: 'entry', entry: same, content, files: [] };
}

/** Also for content that stays as it is: the baseline then has the version that is published already. */
export function buildBaseline(
  entry: IndexEntry | undefined,
  facts: EntryFacts,
  content: CatalogContent,
  options: BuildOptions,
): Built {
  const { file, baseline } = sealBaseline(facts.catalogId, content, options);
  const links = { baseline, changes: entry?.changes ?? [] };
  return { kind: 'baseline', entry: entryOf(entry, facts, links, options), content, files: [file] };
}

function buildChange(
  entry: IndexEntry,
  facts: EntryFacts,
  content: CatalogContent,
  diff: ContentDiff,
  options: BuildOptions,
): Built {
  const fromVersion = content.version;
  const toVersion = fromVersion + 1;
  const document = {
    catalogId: facts.catalogId,
    fromVersion,
    toVersion,
    next_update: nextUpdate(options),
    ...diff,
  };
  const { file, reference } = sealFile('change', document, toVersion, options);
  const changes = [...entry.changes, { version: toVersion, fromVersion, toVersion, ...reference }];
  const reached = applyChangeFile(content, document);
  if (!isDue(entry.baseline, changes, options)) {
    const links = { baseline: entry.baseline, changes };
    return { kind: 'change', entry: entryOf(entry, facts, links, options), content: reached, files: [file] };
  }
  const sealed = sealBaseline(facts.catalogId, reached, options);
  const links = { baseline: sealed.baseline, changes };
  return {
    kind: 'compaction',
    entry: entryOf(entry, facts, links, options),
    content: reached,
    files: [file, sealed.file],
  };
}

function isDue(
  baseline: BaselineReference | undefined,
  changes: readonly ChangeReference[],
  { compactionChanges, compactionFraction }: BuildOptions,
): boolean {
  if (baseline === undefined) return true;
  const pending = changes.filter(({ toVersion }) => toVersion > baseline.version);
  const bytes = pending.reduce((sum, { size = 0 }) => sum + size, 0);
  return pending.length >= compactionChanges || bytes > compactionFraction * baseline.size;
}

function sealBaseline(
  catalogId: string,
  content: CatalogContent,
  options: BuildOptions,
): { file: SealedFile; baseline: BaselineReference } {
  const { version, directives } = content;
  const document = {
    catalogId,
    version,
    next_update: nextUpdate(options),
    catalog: catalogOf(content),
    ...(directives.size > 0 && { directives: [...directives.values()] }),
  };
  const { file, reference } = sealFile('baseline', document, version, options);
  return { file, baseline: { version, ...reference } };
}

export function nextUpdate({
  now,
  nextUpdateSeconds,
}: Pick<BuildOptions, 'now' | 'nextUpdateSeconds'>): string {
  return new Date(now.getTime() + nextUpdateSeconds * 1000).toISOString();
}

type Links = Pick<IndexEntry, 'baseline' | 'changes'>;

function entryOf(
  before: IndexEntry | undefined,
  { catalogId, catalogType, networkIds, schemaTypes, isActive, masters }: EntryFacts,
  { baseline, changes }: Links,
  { key, profile }: Seal,
): IndexEntry {
  const entry = {
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

function isSameEntry(
  { entryVersion: _, signature: __, ...one }: IndexEntry,
  { entryVersion: ___, signature: ____, ...other }: IndexEntry,
): boolean {
  return isSameValue(one, other);
}
