// The goods and searches of honest participants: 10 shops with 100 kinds of coffee each, all of one provider node.
import { randomUUID } from 'node:crypto';

const shops = 10;
const kindsPerShop = 100;
const roasts = ['light', 'medium', 'dark'];
const cities = ['Bengaluru', 'Mysuru', 'Hubballi', 'Mangaluru'];

export function marketCatalogs() {
  return Array.from({ length: shops }, (_, shop) => ({
    id: `shop-${shop}`,
    descriptor: { name: `Coffee shop ${shop}` },
    provider: {
      id: `provider-${shop}`,
      descriptor: { name: `Roastery ${shop} in ${cities[shop % cities.length]}` },
      availableAt: [{ geo: placeOf(shop), address: { addressLocality: cities[shop % cities.length] } }],
    },
    resources: Array.from({ length: kindsPerShop }, (_, kind) => coffee(shop, kind)),
    offers: Array.from({ length: 5 }, (_, index) => ({
      id: `shop-${shop}-offer-${index}`,
      descriptor: { name: `Ten percent off, number ${index}` },
      resourceIds: [`shop-${shop}-coffee-${index}`, `shop-${shop}-coffee-${index + 10}`],
    })),
  }));
}

function coffee(shop, kind) {
  return {
    id: `shop-${shop}-coffee-${kind}`,
    descriptor: {
      name: `${roasts[kind % 3]} roast coffee number ${kind}`,
      shortDesc: 'Washed arabica from the hills of Kodagu',
    },
    resourceAttributes: {
      '@context': 'https://schema.example.org/Coffee/v1.0/context.jsonld',
      '@type': 'Coffee',
      roast: roasts[kind % 3],
      price: 100 + ((shop * 37 + kind * 13) % 400),
      organic: kind % 4 === 0,
    },
  };
}

function placeOf(shop) {
  return { type: 'Point', coordinates: [77.5 + (shop % 5) * 0.02, 12.9 + Math.floor(shop / 5) * 0.02] };
}

/** A new catalog, and a word that only it has. */
export function newCatalog() {
  const word = randomUUID().replace(/[^a-f]/g, (digit) => String.fromCharCode(112 + (Number(digit) || 0)));
  const { resources, offers: _offers, ...shop } = marketCatalogs()[0];
  const [resource] = resources;
  const found = { ...resource, id: word, descriptor: { ...resource.descriptor, name: word } };
  return { catalog: { ...shop, id: `shop-${word}`, resources: [found] }, textSearch: word };
}

/** All of them find something, but nothing that attackers publish. */
export const questions = [
  { textSearch: 'arabica coffee' },
  { textSearch: 'dark roast Mysuru' },
  filter(
    "$.catalogs[*].resources[?@.resourceAttributes.roast == 'dark' && @.resourceAttributes.price < 200]",
  ),
  filter('$.catalogs[*].resources[?@.resourceAttributes.organic == true]'),
  filter("$.catalogs[*].offers[?@.descriptor.name == 'Ten percent off, number 3']"),
  near(),
  { ...near(), textSearch: 'coffee' },
  { ...near(), ...filter('$.catalogs[*].resources[?@.resourceAttributes.price >= 300]') },
];

function filter(expression) {
  return { filters: { type: 'jsonpath', expression } };
}

function near() {
  return {
    spatial: [
      {
        op: 'S_DWITHIN',
        targets: '$.catalogs[*].provider.availableAt[*].geo',
        geometry: { type: 'Point', coordinates: [77.52, 12.92] },
        distanceMeters: 2_000,
      },
    ],
  };
}

/** The honest provider changes a price now and then. */
export function smallChange(count) {
  const { resources, offers: _offers, ...catalog } = marketCatalogs()[count % shops];
  const [first] = resources;
  const resourceAttributes = { ...first.resourceAttributes, price: 100 + (count % 300) };
  return { ...catalog, resources: [{ ...first, resourceAttributes }] };
}
