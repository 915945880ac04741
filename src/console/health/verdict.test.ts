import { expect, it } from 'vitest';
import { type SeriesRow, seriesNames } from '../answers/health.ts';
import { findReasons } from './verdict.ts';

const row = (name: string, value: number): SeriesRow => [
  0,
  ...seriesNames.map((one) => (one === name ? value : null)),
];
const slow = row('discoverP99Ms', 3_000);

it('nothing speaks against health where nothing is known', () => {
  expect(findReasons({ troubles: [], parked: 0, rows: [] })).toEqual([]);
});

it('a goal is missed where every minute misses it', () => {
  expect(findReasons({ troubles: [], parked: 0, rows: [slow, slow] })).toEqual([
    'One search in a hundred takes longer than 2.5 s.',
  ]);
  expect(findReasons({ troubles: [], parked: 0, rows: [slow, row('discoverP99Ms', 5)] })).toEqual([]);
});

it('troubles and parked deliveries are reasons', () => {
  const trouble = { kind: 'key-not-registered', role: 'catalog', what: 'A key is unknown.' } as const;
  const troubles = [{ ...trouble, since: new Date(0), next: 'Register it.' }];
  expect(findReasons({ troubles, parked: 1_200, rows: [] })).toEqual([
    'A key is unknown.',
    'Deliveries are parked: 1,200.',
  ]);
});
