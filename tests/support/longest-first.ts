import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, as far as that is known: begun first, none of them is still running when all others are done. */
export const longest = [
  'tests/bench.test.ts',
  'tests/opensearch-contract.test.ts',
  'tests/attack.test.ts',
  'tests/workers.test.ts',
  'tests/up.test.ts',
  'tests/serve.test.ts',
  'tests/stopping.test.ts',
  'tests/package.test.ts',
  'tests/restart.test.ts',
  'tests/faults/killed-crawlers.test.ts',
  'tests/conform.test.ts',
  'tests/index-rebuild.test.ts',
  'tests/crawl-large.test.ts',
  'tests/discovery-large.test.ts',
  'tests/replicas.test.ts',
  'tests/discover-deadline.test.ts',
  'src/storage/embedded/users.test.ts',
];

/** All others are sorted as Vitest does it: by what they took the last time, or by their size. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((file) => moduleId.endsWith(file));
  return index === -1 ? longest.length : index;
}
