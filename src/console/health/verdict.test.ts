import { expect, it } from 'vitest';
import { type SeriesRow, seriesNames } from '../answers/health.ts';
import { findReasons } from './verdict.ts';

const row = (name: string, value: number): SeriesRow => [
  0,
  ...seriesNames.map((one) => (one === name ? value : null)),
];
const slow = row('discoverP99Ms', 3_000);

it('nothing speaks against health where nothing is known', () => {
  expect(findReasons([], 0, [])).toEqual([]);
});

it('a goal is missed where every minute misses it', () => {
  expect(findReasons([], 0, [slow, slow])).toEqual(['One search in a hundred takes longer than 2.5 s.']);
  expect(findReasons([], 0, [slow, row('discoverP99Ms', 5)])).toEqual([]);
});

it('an index in OpenSearch that is late, or not complete, is a reason', () => {
  expect(findReasons([], 0, [], 7)).toEqual(['Searches do not show the changes of the last 7 seconds yet.']);
  const wait = 'Searches wait for the first index in OpenSearch.';
  expect(findReasons([], 0, [], Number.POSITIVE_INFINITY)).toEqual([wait]);
});

it('troubles and parked deliveries are reasons', () => {
  const trouble = { kind: 'key-not-registered', role: 'catalog', what: 'A key is unknown.' } as const;
  const troubles = [{ ...trouble, since: new Date(0), next: 'Register it.' }];
  expect(findReasons(troubles, 1_200, [])).toEqual(['A key is unknown.', 'Parked deliveries: 1,200.']);
});
