// The rough location of countries: boxes, rounded outwards. They show that a point is in the wrong part of the world; a point just across a
// border passes. Countries that are not listed here are not checked.

export interface Country {
  /** ISO 3166-1 alpha-2. */
  code: string;
  boxes: readonly Box[];
}

/** Degrees. */
export type Box = readonly [south: number, west: number, north: number, east: number];

export function findCountry(text: string): Country | undefined {
  return countries.get(text.trim().toLowerCase());
}

export function isWithin({ boxes }: Country, { latitude, longitude }: Point): boolean {
  return boxes.some(
    ([south, west, north, east]) =>
      latitude >= south && latitude <= north && longitude >= west && longitude <= east,
  );
}

export interface Point {
  latitude: number;
  longitude: number;
}

/** Remote parts have separate boxes, so that the sea between them does not count as the country. */
export const countryBoxes: readonly (readonly [alpha2: string, alpha3: string, ...Box[]])[] = [
  ['AE', 'ARE', [22.5, 51.4, 26.3, 56.6]],
  ['AT', 'AUT', [46.3, 9.4, 49.1, 17.3]],
  ['AU', 'AUS', [-43.8, 112.8, -9, 159.3]],
  ['BD', 'BGD', [20.4, 87.9, 26.8, 92.8]],
  ['BE', 'BEL', [49.4, 2.4, 51.7, 6.5]],
  ['BG', 'BGR', [41.1, 22.2, 44.3, 28.8]],
  ['BR', 'BRA', [-33.9, -74.1, 5.4, -32.2]],
  ['CA', 'CAN', [41.6, -141.1, 83.3, -52.4]],
  ['CH', 'CHE', [45.7, 5.8, 47.9, 10.6]],
  ['CN', 'CHN', [17.9, 73.3, 53.7, 135.2]],
  ['CY', 'CYP', [34.4, 32.1, 35.8, 34.8]],
  ['CZ', 'CZE', [48.4, 12, 51.2, 19]],
  ['DE', 'DEU', [47.1, 5.7, 55.2, 15.2]],
  ['DK', 'DNK', [54.4, 7.9, 57.9, 15.3]],
  ['EE', 'EST', [57.4, 21.6, 59.9, 28.4]],
  ['ES', 'ESP', [35, -9.5, 44, 4.5], [27.5, -18.3, 29.5, -13.3]],
  ['FI', 'FIN', [59.6, 19, 70.2, 31.7]],
  [
    'FR',
    'FRA',
    [41.2, -5.3, 51.3, 9.8],
    [14.2, -61.9, 16.6, -60.7], // Guadeloupe, Martinique
    [2, -54.7, 6, -51.5], // Guyane
    [-21.5, 55.1, -20.7, 56], // Réunion
    [-13.1, 44.9, -12.5, 45.4], // Mayotte
  ],
  ['GB', 'GBR', [49, -8.8, 61, 1.9]],
  ['GH', 'GHA', [4.6, -3.4, 11.3, 1.4]],
  ['GR', 'GRC', [34.7, 19.3, 41.9, 29.8]],
  ['HR', 'HRV', [42.2, 13.3, 46.7, 19.6]],
  ['HU', 'HUN', [45.6, 16, 48.7, 23]],
  ['ID', 'IDN', [-11.2, 94.8, 6.3, 141.2]],
  ['IE', 'IRL', [51.3, -10.8, 55.6, -5.8]],
  ['IN', 'IND', [6.5, 68, 37.3, 97.6]],
  ['IS', 'ISL', [63.1, -24.8, 66.7, -13.3]],
  ['IT', 'ITA', [35.3, 6.5, 47.2, 18.7]],
  ['JP', 'JPN', [20.3, 122.8, 45.7, 154.1]],
  ['KE', 'KEN', [-4.9, 33.8, 5.2, 42]],
  ['KR', 'KOR', [33, 124.4, 38.8, 132]],
  ['LK', 'LKA', [5.8, 79.4, 10, 82]],
  ['LT', 'LTU', [53.8, 20.8, 56.6, 26.9]],
  ['LU', 'LUX', [49.4, 5.6, 50.3, 6.6]],
  ['LV', 'LVA', [55.6, 20.8, 58.2, 28.4]],
  ['MT', 'MLT', [35.7, 14.1, 36.2, 14.7]],
  ['MX', 'MEX', [14.4, -118.6, 32.9, -86.6]],
  ['MY', 'MYS', [0.7, 99.5, 7.6, 119.4]],
  ['NG', 'NGA', [4.1, 2.6, 14, 14.8]],
  ['NL', 'NLD', [50.6, 3.1, 53.8, 7.4]],
  ['NO', 'NOR', [57.8, 4.3, 71.4, 31.3]],
  ['NP', 'NPL', [26.2, 79.9, 30.6, 88.3]],
  ['NZ', 'NZL', [-47.5, 166.2, -34.2, 178.8], [-44.6, -177.1, -43.4, -175.8]],
  ['PH', 'PHL', [4.4, 116.7, 21.3, 126.8]],
  ['PK', 'PAK', [23.5, 60.7, 37.2, 77.9]],
  ['PL', 'POL', [48.9, 14, 55, 24.3]],
  ['PT', 'PRT', [36.8, -9.7, 42.3, -6], [32.2, -17.5, 33.3, -16.1], [36.8, -31.5, 39.9, -24.8]],
  ['RO', 'ROU', [43.5, 20.1, 48.4, 29.9]],
  ['RW', 'RWA', [-2.9, 28.8, -1, 31]],
  ['SA', 'SAU', [16.2, 34.4, 32.3, 55.8]],
  ['SE', 'SWE', [55.2, 10.8, 69.2, 24.3]],
  ['SG', 'SGP', [1.1, 103.5, 1.6, 104.5]],
  ['SI', 'SVN', [45.3, 13.3, 47, 16.7]],
  ['SK', 'SVK', [47.6, 16.7, 49.7, 22.7]],
  ['TH', 'THA', [5.5, 97.2, 20.6, 105.8]],
  ['TR', 'TUR', [35.7, 25.5, 42.3, 45]],
  ['UA', 'UKR', [44.2, 22, 52.5, 40.4]],
  [
    'US',
    'USA',
    [24.3, -125, 49.5, -66.8],
    [51, -180, 71.6, -129.8], // Alaska, up to the date line
    [51, 172, 53.2, 180], // and beyond it
    [18.7, -178.5, 28.6, -154.6], // Hawaii
    [17.5, -67.5, 18.7, -64.4], // Puerto Rico, Virgin Islands
    [13.1, 144.5, 20.7, 146.2], // Guam, Northern Mariana Islands
    [-14.7, -171.2, -10.9, -168], // American Samoa
  ],
  ['VN', 'VNM', [8.2, 102, 23.5, 109.6]],
  ['ZA', 'ZAF', [-35, 16.3, -22, 33.1]],
];

const otherNames: Readonly<Record<string, readonly string[]>> = { GB: ['UK'], TR: ['Turkey'] };

const nameOf = new Intl.DisplayNames(['en'], { type: 'region' });
const countries: ReadonlyMap<string, Country> = new Map(
  countryBoxes.flatMap(([code, alpha3, ...boxes]) => {
    const names = [code, alpha3, nameOf.of(code) ?? code, ...(otherNames[code] ?? [])];
    return names.map((name): [string, Country] => [name.toLowerCase(), { code, boxes }]);
  }),
);
