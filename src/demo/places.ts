import type { DemoNetwork } from '../config.ts';

// The city of the demo network. Streets and coordinates are approximate, and all offers are invented.

export const demoCity: DemoNetwork['city'] = { name: 'Bengaluru', center: [12.9716, 77.5946], zoom: 12 };

export interface Place {
  code: string;
  neighbourhood: string;
  street: string;
  latitude: number;
  longitude: number;
  postalCode: string;
}

const rows: readonly [...(string | number)[]][] = [
  ['MGR', 'MG Road', 'Mahatma Gandhi Road', 12.9753, 77.6072, '560001'],
  ['SBC', 'Majestic', 'Gubbi Thotadappa Road', 12.9781, 77.5695, '560023'],
  ['KOR', 'Koramangala', '80 Feet Road', 12.9362, 77.6248, '560034'],
  ['HSR', 'HSR Layout', '27th Main Road', 12.9116, 77.6474, '560102'],
  ['DOM', 'Domlur', 'Old Airport Road', 12.9609, 77.6421, '560071'],
  ['MAR', 'Marathahalli', 'Outer Ring Road', 12.9569, 77.7005, '560037'],
  ['WHI', 'Whitefield', 'ITPL Main Road', 12.9858, 77.7364, '560066'],
  ['ECY', 'Electronic City', 'Neeladri Road', 12.8456, 77.6603, '560100'],
  ['HEB', 'Hebbal', 'Ballari Road', 13.0389, 77.5912, '560024'],
  ['MAL', 'Malleswaram', 'Sampige Road', 13.0031, 77.5709, '560003'],
  ['JAY', 'Jayanagar', '11th Main Road', 12.9299, 77.5826, '560011'],
  ['BAS', 'Basavanagudi', 'Gandhi Bazaar Main Road', 12.9447, 77.5716, '560004'],
  ['IND', 'Indiranagar', 'CMH Road', 12.9783, 77.6368, '560038'],
  ['RAJ', 'Rajajinagar', 'Dr Rajkumar Road', 12.9915, 77.5545, '560010'],
  ['VIJ', 'Vijayanagar', 'Chord Road', 12.9719, 77.5372, '560040'],
  ['KEN', 'Kengeri', 'Mysuru Road', 12.9141, 77.4838, '560060'],
  ['BAN', 'Banashankari', 'Kanakapura Road', 12.9152, 77.5736, '560070'],
  ['JPN', 'JP Nagar', 'Bannerghatta Road', 12.9024, 77.5996, '560078'],
  ['BTM', 'BTM Layout', 'Hosur Road', 12.9174, 77.6217, '560076'],
  ['YEL', 'Yelahanka', 'Doddaballapura Road', 13.1003, 77.5958, '560064'],
  ['KAL', 'Kalyan Nagar', 'Hennur Road', 13.0322, 77.6368, '560043'],
  ['KRP', 'KR Puram', 'Old Madras Road', 13.0075, 77.6948, '560036'],
];

const places = new Map(
  rows.map(([code, neighbourhood, street, latitude, longitude, postalCode]) => [
    code,
    { code, neighbourhood, street, latitude, longitude, postalCode } as Place,
  ]),
);

export function placeOf(code: string): Place {
  const place = places.get(code);
  if (!place) throw new Error(`the demo has no place ${code}`);
  return place;
}

export function addressOf({ street, neighbourhood, postalCode }: Place) {
  return {
    streetAddress: `${street}, ${neighbourhood}`,
    addressLocality: demoCity.name,
    addressRegion: 'Karnataka',
    postalCode,
    addressCountry: 'IN',
  };
}

export function pointNear({ latitude, longitude }: Place, east: number, north: number) {
  return { type: 'Point' as const, coordinates: positionNear(latitude, longitude, east, north) };
}

/** An area around a place: an octagon whose corners are this many metres away, first to the east, then counterclockwise. */
export function areaAround({ latitude, longitude }: Place, metres: readonly number[]) {
  const corners = metres.map((distance, index) => {
    const angle = (2 * Math.PI * index) / metres.length;
    return positionNear(latitude, longitude, distance * Math.cos(angle), distance * Math.sin(angle));
  });
  return { type: 'Polygon' as const, coordinates: [[...corners, ...corners.slice(0, 1)]] };
}

const metresPerDegree = 111_195;

function positionNear(latitude: number, longitude: number, east: number, north: number): number[] {
  const round = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
  return [
    round(longitude + east / (metresPerDegree * Math.cos((latitude * Math.PI) / 180))),
    round(latitude + north / metresPerDegree),
  ];
}
