import { counted } from '../counted.ts';
import type { FileDirective, IndexEntry } from '../protocol/signed-files.ts';
import type { ContentDiff } from './diff.ts';
import type { SealedFile } from './seal.ts';
import type { TriggerSubmission } from './submission.ts';

// Warns about catalogs that exceed the limits of crawlers, which nobody else reports. These are the default limits of our crawler.

const maxServedBytes = 10 * 1_048_576;
const maxUnpackedBytes = 100 * 1_048_576;
const maxChanges = 1000;
const maxMasters = 8;
const maxCatalogs = 20_000;
const maxNamedIds = 10;

export function findReadingProblems(
  { catalogId, changes, dependencies }: IndexEntry,
  files: readonly SealedFile[],
): string[] {
  const masters = dependencies?.masters?.length ?? 0;
  const isLarge = files.some(
    ({ bytes, unpackedBytes }) => bytes.length > maxServedBytes || unpackedBytes > maxUnpackedBytes,
  );
  return [
    isLarge &&
      'has a file above 10 MiB, or above 100 MiB unpacked: crawlers may refuse it. Split the catalog.',
    changes.length > maxChanges &&
      `lists ${changes.length} changes, and crawlers may read only ${maxChanges}: publish it less often, or set a shorter NEXT_UPDATE_SECONDS.`,
    masters > maxMasters &&
      `extends ${masters} master catalogs, and crawlers may read only ${maxMasters}: split the catalog.`,
  ].flatMap((problem) => (problem ? [`${catalogId} ${problem}`] : []));
}

/** Masters that readers cannot find, because nothing says where they are. */
export function findMasterProblems(
  catalogId: string,
  directives: Iterable<FileDirective>,
  masters: ReadonlyMap<string, unknown>,
): string[] {
  const missing = new Set([...directives].map((directive) => directive.extends.masterResourceId));
  for (const id of masters.keys()) missing.delete(id);
  if (missing.size === 0) return [];
  return [
    `${catalogId} extends master resources that no MASTER catalog of this node has in a shared network: ${nameSome([...missing])}. Crawlers will not serve the catalog until they find them elsewhere. Name their MASTER catalogs in dependencies.masters of its directive.`,
  ];
}

export function findNodeProblems(catalogs: number): string[] {
  if (catalogs <= maxCatalogs) return [];
  return [
    `The indexes list ${catalogs} catalogs, and crawlers may read only ${maxCatalogs} of a node: publish fewer, larger ones.`,
  ];
}

/** Users who omit updateMode may expect the default of catalog services, MERGE, which removes nothing. */
export function findUnaskedRemovals(
  { catalog, isModeDefault }: Pick<TriggerSubmission, 'catalog' | 'isModeDefault'>,
  diff: ContentDiff | undefined,
): string[] {
  const removed = [
    ...nameRemovals('resource', diff?.resources.removals),
    ...nameRemovals('offer', diff?.offers.removals),
  ];
  if (!isModeDefault || removed.length === 0) return [];
  return [
    `${catalog.id} was published without updateMode, as the whole catalog: this removes ${removed.join(' and ')}. Use updateMode MERGE to keep what a request does not name.`,
  ];
}

function nameRemovals(what: string, ids: readonly string[] = []): string[] {
  return ids.length === 0 ? [] : [`${counted(ids.length, what)} (${nameSome(ids)})`];
}

function nameSome(ids: readonly string[]): string {
  const more = ids.length > maxNamedIds ? ` and ${ids.length - maxNamedIds} more` : '';
  return ids.slice(0, maxNamedIds).join(', ') + more;
}
