import { it } from 'vitest';
import { crawlThroughKills } from '../support/crawl-crashes.ts';

// The long form of tests/crawl-crash.test.ts.

it(
  'a crawler that is killed at a random moment of each of 100 crawls leaves no catalog half applied, and the last one skips none',
  () => crawlThroughKills({ nodes: 12, catalogs: 5, kills: 100 }),
  3_600_000,
);
