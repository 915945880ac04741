import { expect, it } from 'vitest';
import { viewOfTimeZone } from './time-zone.ts';

it.each([
  ['Asia/Kolkata', 5.5, [25, 82.5]],
  ['Europe/Berlin', 1, [50, 15]],
  ['America/New_York', -5, [38, -75]],
  ['America/Sao_Paulo', -3, [-18, -45]],
  ['UTC', 0, [20, 0]],
])('the map opens about where %s is', (name, offsetHours, center) => {
  expect(viewOfTimeZone(name, offsetHours).center).toEqual(center);
});
