import type { View } from './base-map.ts';

/** The continent of a time zone gives a typical latitude, and its offset from UTC a longitude: precise enough for a first view. */
const latitudes: Record<string, number> = {
  ...{ Africa: 5, America: 38, Antarctica: -75, Arctic: 78, Asia: 25, Atlantic: 35 },
  ...{ Australia: -28, Europe: 50, Indian: -10, Pacific: -15 },
};
const degreesPerHour = 15;
/** American zones with at least this offset are those of Brazil and Argentina. */
const southAmericanHours = -3;

/** @param offsetHours of its standard time, east of UTC */
export function viewOfTimeZone(name: string, offsetHours: number): View {
  const [continent = ''] = name.split('/');
  const isSouth = continent === 'America' && offsetHours >= southAmericanHours;
  return { center: [isSouth ? -18 : (latitudes[continent] ?? 20), offsetHours * degreesPerHour], zoom: 4 };
}

/** Standard time is the smaller offset of winter and summer, on both sides of the equator. */
export function viewOfBrowser(): View {
  const year = new Date().getFullYear();
  const minutes = [0, 6].map((month) => -new Date(year, month, 1).getTimezoneOffset());
  return viewOfTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone ?? '', Math.min(...minutes) / 60);
}
