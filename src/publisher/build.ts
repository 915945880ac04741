import type { BaselineReference, ChangeReference, IndexEntry } from '../protocol/signed-files.ts';
import type { Check } from '../rules/check-attributes.ts';
import { applyChangeFile, type CatalogContent, catalogOf } from '../rules/self-hosted/content.ts';
import { announcedVersion } from '../rules/self-hosted/reading-plan.ts';
import { type ContentDiff, losesMember } from './diff.ts';
import { type EntryFacts, linksOf, saysTheSame, signEntry } from './entry.ts';
import { type Seal, type SealedFile, type SealOptions, sealFile } from './seal.ts';
import type { NextContent } from './submission.ts';

// Builds the files and the signed entry of a publish (self-hosted spec: Endpoints, Local trigger) from the published and the new content.
// Nothing is read or written here, and the time is an argument.
//
//   unchanged    nothing
//   entry        the content is the same, but the entry differs: a new entry, no file
//   change       a change file
//   compaction   a change file, and a baseline of the same version, because the changes are many or large
//   baseline     the first publish, a requested baseline, or something that change files cannot express

export interface PublishedCatalog {
  entry: IndexEntry;
  /** Absent if the files are unreadable. */
  content?: CatalogContent;
  /** This checker found no fault in the content. */
  checkedBy?: Check;
  /** Superseded changes of the entry that were listed long enough, or whose files are broken. */
  expired?: ReadonlySet<ChangeReference>;
}

export interface BuildOptions extends SealOptions {
  now: Date;
  nextUpdateSeconds: number;
  /** A new baseline is due at this number of changes since the last one, or at this size as a fraction of it. */
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

/** @param diff between published and new content, if any and if readable */
export async function buildPublish(
  current: PublishedCatalog | undefined,
  facts: EntryFacts,
  { next, diff }: { next: NextContent; diff: ContentDiff | undefined },
  options: BuildOptions,
): Promise<Built> {
  const published = current?.content;
  if (current === undefined || published === undefined || losesMember(published, next)) {
    const version = ((current && announcedVersion(current.entry)) ?? 0) + 1;
    return buildBaseline(current, facts, { ...next, version }, options);
  }
  if (options.forceBaseline) {
    const content = diff ? applyDiff(published, diff) : published;
    return buildBaseline(current, facts, content, options);
  }
  if (diff) return buildChange(current, published, facts, diff, options);
  if (saysTheSame(current.entry, facts))
    return { kind: 'unchanged', entry: current.entry, content: published, files: [] };
  return { kind: 'entry', entry: buildEntry(current, facts, options), content: published, files: [] };
}

/** The entry with other facts and the same files. */
export function buildEntry({ entry, expired }: PublishedCatalog, facts: EntryFacts, seal: Seal): IndexEntry {
  return signEntry(entry, facts, linksOf(entry, expired, seal.baseUrl), seal);
}

/** Also for unchanged content: then the baseline has the published version. */
export async function buildBaseline(
  current: PublishedCatalog | undefined,
  facts: EntryFacts,
  content: CatalogContent,
  options: BuildOptions,
): Promise<Built> {
  const { file, baseline } = await sealBaseline(facts.catalogId, content, options);
  const changes = current ? linksOf(current.entry, current.expired, options.baseUrl).changes : [];
  const entry = signEntry(current?.entry, facts, { baseline, changes }, options);
  return { kind: 'baseline', entry, content, files: [file] };
}

async function buildChange(
  current: PublishedCatalog,
  published: CatalogContent,
  facts: EntryFacts,
  diff: ContentDiff,
  options: BuildOptions,
): Promise<Built> {
  const { catalogId } = facts;
  const { fromVersion, toVersion } = step(published);
  const document = { catalogId, fromVersion, toVersion, next_update: nextUpdate(options), ...diff };
  const { file, reference } = await sealFile('change', document, toVersion, options);
  const { baseline, changes } = linksOf(current.entry, current.expired, options.baseUrl);
  changes.push({ version: toVersion, fromVersion, toVersion, ...reference });
  const content = applyDiff(published, diff);
  if (!isCompactionDue(baseline, changes, options)) {
    const entry = signEntry(current.entry, facts, { baseline, changes }, options);
    return { kind: 'change', entry, content, files: [file] };
  }
  const compacted = await sealBaseline(catalogId, content, options);
  const entry = signEntry(current.entry, facts, { baseline: compacted.baseline, changes }, options);
  return { kind: 'compaction', entry, content, files: [file, compacted.file] };
}

/** Like a reader, so that the changes and the baseline lead to the same content. */
function applyDiff(published: CatalogContent, diff: ContentDiff): CatalogContent {
  return applyChangeFile(published, { ...step(published), ...diff });
}

function step({ version }: CatalogContent): { fromVersion: number; toVersion: number } {
  return { fromVersion: version, toVersion: version + 1 };
}

function isCompactionDue(
  baseline: BaselineReference | undefined,
  changes: readonly ChangeReference[],
  { compactionChanges, compactionFraction }: BuildOptions,
): boolean {
  if (baseline === undefined) return true;
  const pending = changes.filter(({ toVersion }) => toVersion > baseline.version);
  const bytes = pending.reduce((sum, { size = 0 }) => sum + size, 0);
  return pending.length >= compactionChanges || bytes > compactionFraction * baseline.size;
}

async function sealBaseline(catalogId: string, content: CatalogContent, options: BuildOptions) {
  const { version, directives } = content;
  const document = {
    catalogId,
    version,
    next_update: nextUpdate(options),
    catalog: catalogOf(content),
    ...(directives.size > 0 && { directives: [...directives.values()] }),
  };
  const { file, reference } = await sealFile('baseline', document, version, options);
  return { file, baseline: { version, ...reference } };
}

/** The end of a cycle that starts now. */
export function nextUpdate({ now, nextUpdateSeconds }: Pick<BuildOptions, 'now' | 'nextUpdateSeconds'>) {
  return new Date(now.getTime() + nextUpdateSeconds * 1000).toISOString();
}
