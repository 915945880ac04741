import { it } from 'vitest';
import { publishThroughKills } from '../support/publisher-crashes.ts';

// The long form of tests/publisher-crash.test.ts.

it(
  'a publisher that is killed at a random moment of each of 100 publishes always leaves a tree that verifies',
  () => publishThroughKills({ publishes: 100, kills: 100 }),
  1_800_000,
);
