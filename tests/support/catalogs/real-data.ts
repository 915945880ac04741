import { existsSync, readFileSync } from 'node:fs';
import type { Catalog, Resource } from '../../../src/protocol/catalog.ts';
import type { Geometry } from '../../../src/protocol/geojson.ts';
import { dataFile } from './data-dir.ts';
import { chargerContext } from './sample-catalogs.ts';

// Real stations and products as catalogs. One connector makes one resource; one station makes one provider with one location.

const files = {
  uk: dataFile('geo/ncr-gb-2022.csv'),
  delhi: dataFile('geo/osm-delhi-ncr-2026-01.geojson'),
  products: dataFile('retail/openfoodfacts-2019-sample-2000.tsv'),
};

export const hasRealData = Object.values(files).every((file) => existsSync(file));

/** Stations of the National Chargepoint Registry of the United Kingdom. */
export function ukStations(count: number): Catalog[] {
  return parseCsv(readFileSync(files.uk, 'utf8'))
    .slice(0, count)
    .map(({ id = '', name = '', operator = '', connectors = '[]', ...station }) => {
      const { latitude, longitude, street, city, postalCode, access } = station;
      const power = (powerKw: number) => ({ ratedPower: { value: powerKw, unit: 'kW' } });
      return stationCatalog(id, name, {
        operator,
        geo: { type: 'Point', coordinates: [Number(longitude), Number(latitude)] },
        address: { streetAddress: street, addressLocality: city, postalCode },
        resources: (JSON.parse(connectors) as Connector[]).map(({ type, powerKw, method }, index) => ({
          id: `${id}-${index + 1}`,
          descriptor: {
            name: `${type} ${powerKw ?? ''} kW`,
            shortDesc: `${method ?? ''} at ${name}, ${access}`,
          },
          ...charger(`${id}-${index + 1}`, { connectorType: type, ...(powerKw && power(powerKw)) }),
        })),
      });
    });
}

/** Charging stations in and around Delhi, as points and as areas, from OpenStreetMap. */
export function delhiStations(): Catalog[] {
  const { features } = JSON.parse(readFileSync(files.delhi, 'utf8')) as { features: Feature[] };
  return features.map(({ id, geometry, properties }) => {
    const { name, brand, operator = brand ?? 'unknown', capacity } = properties;
    return stationCatalog(id, name ?? brand ?? 'Charging station', {
      operator,
      geo: geometry,
      address: { addressLocality: 'Delhi' },
      resources: [
        {
          id: `${id}-1`,
          descriptor: {
            name: 'Charger',
            shortDesc: [operator, capacity && `for ${capacity} cars`].join(' '),
          },
          ...charger(`${id}-1`, {}),
        },
      ],
    });
  });
}

/** Products with what is in a hundred grams, in one catalog for every thousand. */
export function products(): Catalog[] {
  const [header = '', ...lines] = readFileSync(files.products, 'utf8').trimEnd().split('\n');
  const columns = header.split('\t');
  const all = lines.map((line) => {
    const values = line.split('\t');
    const [barcode = '', name = ''] = values;
    const contents = columns.slice(2).flatMap((column, index) => {
      const value = values[index + 2];
      return value ? [[column.replace('_g100', ''), Number(value)]] : [];
    });
    return { id: barcode, descriptor: { name }, per100g: Object.fromEntries(contents) } as Resource;
  });
  const size = 1000;
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) => ({
    id: `products-${index + 1}`,
    descriptor: { name: `Groceries ${index + 1}` },
    provider: { id: 'grocer', descriptor: { name: 'Grocer' } },
    resources: all.slice(index * size, (index + 1) * size),
  }));
}

interface Connector {
  type: string;
  powerKw?: number;
  method?: string;
}

interface Feature {
  id: string;
  geometry: Geometry;
  properties: { name?: string; brand?: string; operator?: string; capacity?: string };
}

function stationCatalog(
  id: string,
  name: string,
  {
    operator,
    geo,
    address,
    resources,
  }: { operator: string; geo: Geometry; address: object; resources: Resource[] },
): Catalog {
  const provider = { id, descriptor: { name: operator }, availableAt: [{ geo, address }] };
  return { id, descriptor: { name }, provider, resources } as Catalog;
}

function charger(id: string, attributes: object): object {
  const type = { '@context': chargerContext, '@type': 'EnergyResourceEVCharger', type: 'EV_CHARGER' };
  return { resourceAttributes: { ...type, id, attributes } };
}

/** Rows by their columns (RFC 4180). */
function parseCsv(text: string): { [column: string]: string }[] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== ',') rows.push([]);
  }
  const [columns = [], ...records] = rows.filter((row) => row.length > 1);
  return records.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? ''])));
}
