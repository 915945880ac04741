import type { IndexEntry } from '../protocol/signed-files.ts';
import type { SealedFile } from './seal.ts';

// What a crawler reads has limits, and who passes them is not told. These are the limits that ours have unless somebody sets others.

const maxServedBytes = 10 * 1_048_576;
const maxUnpackedBytes = 100 * 1_048_576;
const maxChanges = 1000;
const maxMasters = 8;
const maxCatalogs = 20_000;

/** Why readers may not take what is published. */
export function findReadingProblems(
  { catalogId, changes, dependencies }: IndexEntry,
  files: readonly SealedFile[],
): string[] {
  const problems: string[] = [];
  if (
    files.some(
      ({ bytes, unpackedBytes }) => bytes.length > maxServedBytes || unpackedBytes > maxUnpackedBytes,
    )
  ) {
    problems.push(
      `${catalogId} has a file above 10 MiB, or above 100 MiB unpacked: crawlers may refuse it. Split the catalog.`,
    );
  }
  if (changes.length > maxChanges) {
    problems.push(
      `${catalogId} lists ${changes.length} changes, and crawlers may read only ${maxChanges}: publish it less often, or set a shorter NEXT_UPDATE_SECONDS.`,
    );
  }
  const masters = dependencies?.masters?.length ?? 0;
  if (masters > maxMasters) {
    problems.push(
      `${catalogId} extends ${masters} master catalogs, and crawlers may read only ${maxMasters}: split the catalog.`,
    );
  }
  return problems;
}

/** Why readers may take nothing of this node at all. */
export function findNodeProblems(catalogs: number): string[] {
  if (catalogs <= maxCatalogs) return [];
  return [
    `The indexes list ${catalogs} catalogs, and crawlers may read only ${maxCatalogs} of a node: publish fewer, larger ones.`,
  ];
}
