import { it } from 'vitest';
import { publishThroughCrashes } from '../support/crashes.ts';

// The long form of tests/crash.test.ts: takes some minutes, because every kill leaves leases behind that have to end.

it(
  'a service that is killed at a random moment during 200 concurrent publishes, ten times, loses nothing and repeats nothing',
  () =>
    publishThroughCrashes({
      ...{ publishers: 40, publishes: 5, kills: 1, killWithinMs: 10_000, rounds: 10 },
      waitsForLeases: true,
    }),
  1_800_000,
);
