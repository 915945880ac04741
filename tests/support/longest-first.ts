import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, as far as known. They start first, so that none is still running when all others are done. */
export const longest = [
  'tests/bench/bench.test.ts',
  'tests/attack/attack.test.ts',
  'tests/processes/workers.test.ts',
  'tests/processes/up.test.ts',
  'tests/processes/serve.test.ts',
  'tests/processes/stopping.test.ts',
  'tests/package/package.test.ts',
  'tests/ways/operations/packed.test.ts',
  'tests/processes/restart.test.ts',
  'tests/faults/killed-crawlers.test.ts',
  'tests/conform/conform.test.ts',
  'tests/search/index-rebuild.test.ts',
  'tests/large/crawl-large.test.ts',
  'tests/large/discovery-large.test.ts',
  'tests/processes/replicas.test.ts',
  'tests/search/deadline.test.ts',
  'tests/processes/embedded-users.test.ts',
];

/** All others are sorted as Vitest does it: by their last duration, or by size. */
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
