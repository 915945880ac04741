import type { Catalog, Offer, Resource } from '../protocol/catalog.ts';
import type { PublishMessage, ResourceDirective } from '../protocol/publish-messages.ts';
import { priceOf } from './chargers.ts';
import { addressOf, areaAround, placeOf, pointNear } from './places.ts';

// Groceries: the facilitator of the network describes products once, in a master catalog. The shops of a grocer extend these, and add their own prices and
// stock.

const context = 'https://schema.beckn.io/GroceryItem/v1/context.jsonld';

type Row = [
  code: string,
  name: string,
  kannada: string,
  aisle: string,
  amount: number,
  unit: string,
  rupees: number,
  about: string,
];

const products: readonly Row[] = [
  [
    'ragi-flour',
    'Ragi flour',
    'ರಾಗಿ ಹಿಟ್ಟು',
    'Flour and grain',
    1,
    'kg',
    64,
    'Stone-ground finger millet, for mudde and dosa',
  ],
  [
    'rice-sona',
    'Sona masuri rice',
    'ಸೋನಾ ಮಸೂರಿ ಅಕ್ಕಿ',
    'Flour and grain',
    5,
    'kg',
    330,
    'Aged one year, from Raichur',
  ],
  [
    'rice-jeera',
    'Jeera samba rice',
    'ಜೀರಾ ಸಾಂಬಾ ಅಕ್ಕಿ',
    'Flour and grain',
    1,
    'kg',
    128,
    'Small and fragrant, for biryani',
  ],
  ['wheat-flour', 'Whole wheat flour', 'ಗೋಧಿ ಹಿಟ್ಟು', 'Flour and grain', 5, 'kg', 265, 'For chapati'],
  ['poha', 'Thick poha', 'ಅವಲಕ್ಕಿ', 'Flour and grain', 0.5, 'kg', 42, 'Flattened rice'],
  ['rava', 'Bansi rava', 'ಬನ್ಸಿ ರವೆ', 'Flour and grain', 1, 'kg', 68, 'Semolina for uppittu and kesari bath'],
  ['jowar', 'Jowar', 'ಜೋಳ', 'Flour and grain', 1, 'kg', 72, 'Sorghum from Vijayapura'],
  ['toor-dal', 'Toor dal', 'ತೊಗರಿ ಬೇಳೆ', 'Pulses', 1, 'kg', 168, 'From Kalaburagi'],
  ['moong-dal', 'Moong dal', 'ಹೆಸರು ಬೇಳೆ', 'Pulses', 0.5, 'kg', 76, 'Split and washed'],
  ['chana', 'Kabuli chana', 'ಕಾಬೂಲಿ ಕಡಲೆ', 'Pulses', 0.5, 'kg', 84, 'Large white chickpeas'],
  ['avarekalu', 'Dried avarekalu', 'ಅವರೆಕಾಳು', 'Pulses', 0.5, 'kg', 96, 'Hyacinth beans from Magadi'],
  [
    'coffee-filter',
    'Filter coffee powder',
    'ಫಿಲ್ಟರ್ ಕಾಫಿ ಪುಡಿ',
    'Coffee and tea',
    0.5,
    'kg',
    310,
    'Chikkamagaluru peaberry, 20 % chicory',
  ],
  [
    'coffee-plantation',
    'Plantation A coffee',
    'ಪ್ಲಾಂಟೇಶನ್ ಎ ಕಾಫಿ',
    'Coffee and tea',
    0.25,
    'kg',
    240,
    'Washed arabica from Kodagu, whole beans',
  ],
  ['tea-nilgiri', 'Nilgiri tea', 'ನೀಲಗಿರಿ ಚಹಾ', 'Coffee and tea', 0.25, 'kg', 145, 'Orange pekoe'],
  ['milk', 'Toned milk', 'ಹಾಲು', 'Dairy', 1, 'l', 46, 'Fresh this morning'],
  ['curd', 'Curd', 'ಮೊಸರು', 'Dairy', 0.5, 'kg', 32, 'Set overnight'],
  ['butter', 'White butter', 'ಬೆಣ್ಣೆ', 'Dairy', 0.2, 'kg', 128, 'As it is put on a benne dosa'],
  ['ghee', 'Cow ghee', 'ತುಪ್ಪ', 'Dairy', 0.5, 'l', 345, 'Slowly clarified'],
  ['paneer', 'Paneer', 'ಪನೀರ್', 'Dairy', 0.2, 'kg', 92, 'Fresh'],
  ['coconut', 'Coconut', 'ತೆಂಗಿನಕಾಯಿ', 'Fruit and vegetables', 1, 'piece', 38, 'From Tiptur'],
  ['banana', 'Elakki bananas', 'ಏಲಕ್ಕಿ ಬಾಳೆಹಣ್ಣು', 'Fruit and vegetables', 1, 'kg', 78, 'Small and sweet'],
  [
    'mango',
    'Badami mangoes',
    'ಬಾದಾಮಿ ಮಾವು',
    'Fruit and vegetables',
    1,
    'kg',
    180,
    'From Srinivaspura, while the season lasts',
  ],
  ['tomato', 'Tomatoes', 'ಟೊಮೆಟೊ', 'Fruit and vegetables', 1, 'kg', 34, 'From Kolar'],
  ['onion', 'Onions', 'ಈರುಳ್ಳಿ', 'Fruit and vegetables', 1, 'kg', 36, 'From Chitradurga'],
  ['beans', 'Ring beans', 'ಹುರುಳಿಕಾಯಿ', 'Fruit and vegetables', 0.5, 'kg', 44, 'From Doddaballapura'],
  ['curry-leaves', 'Curry leaves', 'ಕರಿಬೇವು', 'Fruit and vegetables', 1, 'bunch', 10, 'Cut today'],
  ['chilli-byadgi', 'Byadgi chillies', 'ಬ್ಯಾಡಗಿ ಮೆಣಸಿನಕಾಯಿ', 'Spices', 0.25, 'kg', 135, 'Deep red, and mild'],
  ['pepper', 'Black pepper', 'ಕರಿಮೆಣಸು', 'Spices', 0.1, 'kg', 98, 'From Sirsi'],
  ['cardamom', 'Green cardamom', 'ಏಲಕ್ಕಿ', 'Spices', 0.05, 'kg', 165, 'From Sakleshpura'],
  [
    'sambar-powder',
    'Huli powder',
    'ಹುಳಿ ಪುಡಿ',
    'Spices',
    0.2,
    'kg',
    88,
    'For sambar, roasted in small batches',
  ],
  ['jaggery', 'Jaggery', 'ಬೆಲ್ಲ', 'Sweets and snacks', 1, 'kg', 82, 'Mandya blocks'],
  ['mysore-pak', 'Mysore pak', 'ಮೈಸೂರು ಪಾಕ್', 'Sweets and snacks', 0.25, 'kg', 190, 'With ghee, soft'],
  ['chakli', 'Chakli', 'ಚಕ್ಕುಲಿ', 'Sweets and snacks', 0.2, 'kg', 70, 'Rice flour spirals'],
  ['chikki', 'Peanut chikki', 'ಕಡಲೆಕಾಯಿ ಚಿಕ್ಕಿ', 'Sweets and snacks', 0.2, 'kg', 60, 'With jaggery'],
  ['oil-groundnut', 'Groundnut oil', 'ಕಡಲೆಕಾಯಿ ಎಣ್ಣೆ', 'Oil', 1, 'l', 218, 'Pressed in a wooden ghani'],
  ['oil-coconut', 'Coconut oil', 'ಕೊಬ್ಬರಿ ಎಣ್ಣೆ', 'Oil', 0.5, 'l', 172, 'Cold-pressed'],
];

/** Published by the facilitator. */
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
    resources: products.map(([code, name, kannada, aisle, amount, unit, , about]) => ({
      id: `pantry:${code}`,
      descriptor: { name, shortDesc: `${amount} ${unit}`, longDesc: `${about}. ${kannada}` },
      resourceAttributes: {
        '@context': context,
        '@type': 'GroceryItem',
        aisle,
        pack: { value: amount, unit },
        vegetarian: true,
        nameInKannada: kannada,
      },
    })),
  };
}

interface Shop {
  place: string;
  opens: string;
  /** Its prices as a multiple of the usual ones. */
  priceFactor: number;
  /** How far it delivers, in metres: in the east, then counterclockwise. */
  delivers: readonly number[];
}

const shops: readonly Shop[] = [
  {
    place: 'KOR',
    opens: '07:00-22:30',
    priceFactor: 1.06,
    delivers: [1900, 1700, 1500, 1800, 2100, 2000, 1600, 1700],
  },
  {
    place: 'JAY',
    opens: '06:30-21:30',
    priceFactor: 1,
    delivers: [1600, 1800, 2000, 1900, 1500, 1400, 1700, 1800],
  },
  {
    place: 'MAL',
    opens: '06:00-21:00',
    priceFactor: 0.98,
    delivers: [1500, 1400, 1900, 2000, 1800, 1500, 1300, 1400],
  },
  {
    place: 'WHI',
    opens: '08:00-23:00',
    priceFactor: 1.1,
    delivers: [2600, 2300, 2100, 2400, 2800, 2700, 2200, 2300],
  },
  {
    place: 'IND',
    opens: '07:00-23:00',
    priceFactor: 1.08,
    delivers: [1700, 1500, 1600, 1400, 1800, 1900, 1500, 1600],
  },
  {
    place: 'BAS',
    opens: '06:00-21:30',
    priceFactor: 0.96,
    delivers: [1400, 1600, 1500, 1700, 1900, 1600, 1400, 1300],
  },
];

/** Published by the grocer: a catalog for each shop, whose products extend those of the master catalog. */
export function shopCatalogs(networkId: string): PublishMessage {
  const made = shops.map(shopCatalog);
  return {
    catalogs: made.map(({ catalog }) => catalog),
    publishDirectives: made.map(({ catalog: { id: catalogId }, resourceDirectives }) => ({
      ...{ catalogId, catalogType: 'REGULAR' as const, visibleTo: [networkId], resourceDirectives },
    })),
  };
}

function shopCatalog(
  shop: Shop,
  index: number,
): { catalog: Catalog; resourceDirectives: ResourceDirective[] } {
  const place = placeOf(shop.place);
  const area = place.neighbourhood.toLowerCase();
  // No shop has everything.
  const sold = products.filter((_, product) => (product + index) % 3 !== 0);
  const idOf = (code: string) => `santhe:${place.code}:${code}`;
  const resources: Resource[] = sold.map(([code]) => ({
    id: idOf(code),
    resourceAttributes: {
      '@context': context,
      '@type': 'GroceryItem',
      inStock: (code.length + index) % 7 !== 0,
    },
  }));
  const offers: Offer[] = sold.map(([code, , , , , , rupees]) => ({
    id: `${idOf(code)}:price`,
    resourceIds: [idOf(code)],
    considerations: [priceOf(Math.round(rupees * shop.priceFactor))],
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
          { geo: areaAround(place, shop.delivers) },
        ],
        providerAttributes: { openingHours: `Mo-Su ${shop.opens}` },
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
