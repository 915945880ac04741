import type { Catalog, Offer, Resource } from '../protocol/catalog.ts';
import type { PublishMessage } from '../protocol/publish-messages.ts';
import { priceOf } from './chargers.ts';
import { addressOf, areaAround, placeOf, pointNear } from './places.ts';

// Groceries: the facilitator describes products in a master catalog; the shops of a grocer extend it with prices and stock.

const groceryType = {
  '@context': 'https://schema.beckn.io/GroceryItem/v1/context.jsonld',
  '@type': 'GroceryItem',
};

type Row = [
  code: string,
  name: string,
  kannada: string,
  amount: number,
  unit: string,
  rupees: number,
  about: string,
];

const aisles: Readonly<Record<string, readonly Row[]>> = {
  'Flour and grain': [
    ['ragi-flour', 'Ragi flour', 'ರಾಗಿ ಹಿಟ್ಟು', 1, 'kg', 64, 'Stone-ground finger millet, for mudde and dosa'],
    ['rice-sona', 'Sona masuri rice', 'ಸೋನಾ ಮಸೂರಿ ಅಕ್ಕಿ', 5, 'kg', 330, 'Aged one year, from Raichur'],
    ['rice-jeera', 'Jeera samba rice', 'ಜೀರಾ ಸಾಂಬಾ ಅಕ್ಕಿ', 1, 'kg', 128, 'Small and fragrant, for biryani'],
    ['wheat-flour', 'Whole wheat flour', 'ಗೋಧಿ ಹಿಟ್ಟು', 5, 'kg', 265, 'For chapati'],
    ['poha', 'Thick poha', 'ಅವಲಕ್ಕಿ', 0.5, 'kg', 42, 'Flattened rice'],
    ['rava', 'Bansi rava', 'ಬನ್ಸಿ ರವೆ', 1, 'kg', 68, 'Semolina for uppittu and kesari bath'],
    ['jowar', 'Jowar', 'ಜೋಳ', 1, 'kg', 72, 'Sorghum from Vijayapura'],
  ],
  Pulses: [
    ['toor-dal', 'Toor dal', 'ತೊಗರಿ ಬೇಳೆ', 1, 'kg', 168, 'From Kalaburagi'],
    ['moong-dal', 'Moong dal', 'ಹೆಸರು ಬೇಳೆ', 0.5, 'kg', 76, 'Split and washed'],
    ['chana', 'Kabuli chana', 'ಕಾಬೂಲಿ ಕಡಲೆ', 0.5, 'kg', 84, 'Large white chickpeas'],
    ['avarekalu', 'Dried avarekalu', 'ಅವರೆಕಾಳು', 0.5, 'kg', 96, 'Hyacinth beans from Magadi'],
  ],
  'Coffee and tea': [
    [
      'coffee-filter',
      'Filter coffee powder',
      'ಫಿಲ್ಟರ್ ಕಾಫಿ ಪುಡಿ',
      0.5,
      'kg',
      310,
      'Chikkamagaluru peaberry, 20 % chicory',
    ],
    [
      'coffee-plantation',
      'Plantation A coffee',
      'ಪ್ಲಾಂಟೇಶನ್ ಎ ಕಾಫಿ',
      0.25,
      'kg',
      240,
      'Washed arabica from Kodagu, whole beans',
    ],
    ['tea-nilgiri', 'Nilgiri tea', 'ನೀಲಗಿರಿ ಚಹಾ', 0.25, 'kg', 145, 'Orange pekoe'],
  ],
  Dairy: [
    ['milk', 'Toned milk', 'ಹಾಲು', 1, 'l', 46, 'Fresh this morning'],
    ['curd', 'Curd', 'ಮೊಸರು', 0.5, 'kg', 32, 'Set overnight'],
    ['butter', 'White butter', 'ಬೆಣ್ಣೆ', 0.2, 'kg', 128, 'As it is put on a benne dosa'],
    ['ghee', 'Cow ghee', 'ತುಪ್ಪ', 0.5, 'l', 345, 'Slowly clarified'],
    ['paneer', 'Paneer', 'ಪನೀರ್', 0.2, 'kg', 92, 'Fresh'],
  ],
  'Fruit and vegetables': [
    ['coconut', 'Coconut', 'ತೆಂಗಿನಕಾಯಿ', 1, 'piece', 38, 'From Tiptur'],
    ['banana', 'Elakki bananas', 'ಏಲಕ್ಕಿ ಬಾಳೆಹಣ್ಣು', 1, 'kg', 78, 'Small and sweet'],
    ['mango', 'Badami mangoes', 'ಬಾದಾಮಿ ಮಾವು', 1, 'kg', 180, 'From Srinivaspura, while the season lasts'],
    ['tomato', 'Tomatoes', 'ಟೊಮೆಟೊ', 1, 'kg', 34, 'From Kolar'],
    ['onion', 'Onions', 'ಈರುಳ್ಳಿ', 1, 'kg', 36, 'From Chitradurga'],
    ['beans', 'Ring beans', 'ಹುರುಳಿಕಾಯಿ', 0.5, 'kg', 44, 'From Doddaballapura'],
    ['curry-leaves', 'Curry leaves', 'ಕರಿಬೇವು', 1, 'bunch', 10, 'Cut today'],
  ],
  Spices: [
    ['chilli-byadgi', 'Byadgi chillies', 'ಬ್ಯಾಡಗಿ ಮೆಣಸಿನಕಾಯಿ', 0.25, 'kg', 135, 'Deep red, and mild'],
    ['pepper', 'Black pepper', 'ಕರಿಮೆಣಸು', 0.1, 'kg', 98, 'From Sirsi'],
    ['cardamom', 'Green cardamom', 'ಏಲಕ್ಕಿ', 0.05, 'kg', 165, 'From Sakleshpura'],
    ['sambar-powder', 'Huli powder', 'ಹುಳಿ ಪುಡಿ', 0.2, 'kg', 88, 'For sambar, roasted in small batches'],
  ],
  'Sweets and snacks': [
    ['jaggery', 'Jaggery', 'ಬೆಲ್ಲ', 1, 'kg', 82, 'Mandya blocks'],
    ['mysore-pak', 'Mysore pak', 'ಮೈಸೂರು ಪಾಕ್', 0.25, 'kg', 190, 'With ghee, soft'],
    ['chakli', 'Chakli', 'ಚಕ್ಕುಲಿ', 0.2, 'kg', 70, 'Rice flour spirals'],
    ['chikki', 'Peanut chikki', 'ಕಡಲೆಕಾಯಿ ಚಿಕ್ಕಿ', 0.2, 'kg', 60, 'With jaggery'],
  ],
  Oil: [
    ['oil-groundnut', 'Groundnut oil', 'ಕಡಲೆಕಾಯಿ ಎಣ್ಣೆ', 1, 'l', 218, 'Pressed in a wooden ghani'],
    ['oil-coconut', 'Coconut oil', 'ಕೊಬ್ಬರಿ ಎಣ್ಣೆ', 0.5, 'l', 172, 'Cold-pressed'],
  ],
};
const products = Object.values(aisles).flat();

export function masterCatalog(): Catalog {
  return {
    id: 'bengaluru-pantry',
    descriptor: {
      name: 'Bengaluru Pantry',
      shortDesc: 'What a kitchen of the city needs, described once for every shop',
    },
    provider: {
      id: 'pantry',
      descriptor: { name: 'Namma Network', shortDesc: 'Facilitator of the demo network' },
    },
    resources: Object.entries(aisles).flatMap(([aisle, rows]) =>
      rows.map(([code, name, kannada, amount, unit, , about]) => ({
        id: `pantry:${code}`,
        descriptor: { name, shortDesc: `${amount} ${unit}`, longDesc: `${about}. ${kannada}` },
        resourceAttributes: {
          ...{ ...groceryType, aisle, pack: { value: amount, unit } },
          ...{ vegetarian: true, nameInKannada: kannada },
        },
      })),
    ),
  };
}

type Shop = [
  place: string,
  opens: string,
  /** Its prices as a multiple of the usual ones. */
  priceFactor: number,
  /** Delivery distances in metres: first to the east, then counterclockwise. */
  delivers: readonly number[],
];

const shops: readonly Shop[] = [
  ['KOR', '07:00-22:30', 1.06, [1900, 1700, 1500, 1800, 2100, 2000, 1600, 1700]],
  ['JAY', '06:30-21:30', 1, [1600, 1800, 2000, 1900, 1500, 1400, 1700, 1800]],
  ['MAL', '06:00-21:00', 0.98, [1500, 1400, 1900, 2000, 1800, 1500, 1300, 1400]],
  ['WHI', '08:00-23:00', 1.1, [2600, 2300, 2100, 2400, 2800, 2700, 2200, 2300]],
  ['IND', '07:00-23:00', 1.08, [1700, 1500, 1600, 1400, 1800, 1900, 1500, 1600]],
  ['BAS', '06:00-21:30', 0.96, [1400, 1600, 1500, 1700, 1900, 1600, 1400, 1300]],
];

export function shopCatalogs(networkId: string): PublishMessage {
  const made = shops.map(shopCatalog);
  return {
    catalogs: made.map(({ catalog }) => catalog),
    publishDirectives: made.map(({ catalog: { id: catalogId }, resourceDirectives }) => ({
      ...{ catalogId, catalogType: 'REGULAR' as const, visibleTo: [networkId], resourceDirectives },
    })),
  };
}

function shopCatalog([code, opens, priceFactor, delivers]: Shop, index: number) {
  const place = placeOf(code);
  const area = place.neighbourhood.toLowerCase();
  // No shop has everything.
  const sold = products.filter((_, product) => (product + index) % 3 !== 0);
  const idOf = (code: string) => `santhe:${place.code}:${code}`;
  const resources: Resource[] = sold.map(([code]) => ({
    id: idOf(code),
    resourceAttributes: { ...groceryType, inStock: (code.length + index) % 7 !== 0 },
  }));
  const offers: Offer[] = sold.map(([code, , , , , rupees]) => ({
    id: `${idOf(code)}:price`,
    resourceIds: [idOf(code)],
    considerations: [priceOf(Math.round(rupees * priceFactor))],
  }));
  const delivery: Offer = {
    id: `santhe:${place.code}:delivery`,
    descriptor: { name: 'Free delivery', shortDesc: 'From ₹500 on, within the hour' },
    validity: { startTime: '07:00:00+05:30', endTime: '21:00:00+05:30' },
  };
  return {
    catalog: {
      id: `santhe-${area}`,
      descriptor: { name: `Hosa Santhe ${place.neighbourhood}`, shortDesc: `Groceries in ${place.street}` },
      provider: {
        id: `santhe-${area}`,
        descriptor: { name: 'Hosa Santhe', shortDesc: 'The new market: six shops, one kitchen' },
        availableAt: [
          { geo: pointNear(place, 40, 25), address: addressOf(place) },
          { geo: areaAround(place, delivers) },
        ],
        providerAttributes: { openingHours: `Mo-Su ${opens}` },
      },
      resources,
      offers: [...offers, delivery],
    },
    resourceDirectives: sold.map(([code]) => ({
      resourceId: idOf(code),
      extends: { masterResourceId: `pantry:${code}` },
      variant: { type: 'geo', id: area, label: place.neighbourhood },
    })),
  };
}
