// Real products (Open Food Facts, in TEST_DATA_DIR: see CONTRIBUTING.md), and the kinds of intents that are measured on them, as in
// discover-stations.mjs. They have names in many languages and what is in a hundred grams, and are nowhere.
import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { filter, plainPage } from './discover-questions.mjs';

const directory = process.env.TEST_DATA_DIR || '../shared/data';
const file = resolve(directory, 'retail/openfoodfacts-2019-products.tsv.gz');

export const isThere = existsSync(file);
export const catalogsAtOnce = 1;
export const resourcesPerCatalog = 1_000;

const amounts = ['fat', 'saturatedFat', 'carbohydrate', 'sugar', 'protein', 'salt'];
const table = 'plain.product';

/** A thousand products in each. */
export async function* catalogs({ resources }) {
  let products = [];
  let made = 0;
  for await (const line of createInterface(createReadStream(file).pipe(createGunzip()))) {
    const [barcode, name, ...values] = line.split('\t');
    if (barcode === 'barcode') continue;
    const known = amounts.flatMap((amount, place) =>
      values[place] ? [[amount, Number(values[place])]] : [],
    );
    products.push({ id: barcode, descriptor: { name }, per100g: Object.fromEntries(known) });
    if (products.length < resourcesPerCatalog && made + products.length < resources) continue;
    made += products.length;
    yield catalogOf(made, products);
    if (made >= resources) return;
    products = [];
  }
  if (products.length > 0) yield catalogOf(made + products.length, products);
}

function catalogOf(number, resources) {
  return {
    id: `products-${number}`,
    descriptor: { name: 'Groceries' },
    provider: { id: 'grocer', descriptor: { name: 'Grocer' } },
    resources,
  };
}

export const kinds = {
  equality: {
    ask: (catalog) => filter(`@.per100g.sugar == ${contents(catalog).sugar}`),
    plain: (catalog) => plainPage(table, 'sugar = $1', [contents(catalog).sugar]),
  },
  'range + equality': {
    ask: (catalog) =>
      filter(`@.per100g.sugar == ${contents(catalog).sugar} && @.per100g.fat <= ${contents(catalog).fat}`),
    plain: (catalog) =>
      plainPage(table, 'sugar = $1 and fat <= $2', [contents(catalog).sugar, contents(catalog).fat]),
  },
  'rare word': {
    ask: (catalog) => ({ textSearch: rareWord(catalog) }),
    plain: (catalog) => plainPage(table, hasWords, [rareWord(catalog)]),
  },
  'common words': {
    ask: () => ({ textSearch: 'chocolat noir lait bio' }),
    plain: () =>
      plainPage(table, hasWords, ['chocolat | noir | lait | bio'], {
        order: `ts_rank(words, to_tsquery('simple', $1)) desc`,
      }),
  },
  'text + range': {
    ask: () => ({ textSearch: 'chocolate milk', ...filter('@.per100g.sugar < 5') }),
    plain: () =>
      plainPage(table, `${hasWords} and sugar < 5`, ['chocolate | milk'], {
        order: `ts_rank(words, to_tsquery('simple', $1)) desc`,
      }),
  },
};

const hasWords = `words @@ to_tsquery('simple', $1)`;

/** Of a product that has both. */
function contents({ resources }) {
  return resources.find(({ per100g: { sugar, fat } }) => sugar !== undefined && fat !== undefined).per100g;
}

/** The longest word of the first names: plain letters, so that it means the same to both. */
function rareWord({ resources }) {
  const words = resources
    .slice(0, 20)
    .flatMap(({ descriptor }) => descriptor.name.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
    .filter((word) => /^[a-z]+$/i.test(word));
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest), '');
}

export async function makePlainTable(database) {
  const columns = amounts.map((amount) => `(document #>> '{per100g,${amount}}')::float8 as ${amount}`);
  await database.query(
    `create table ${table} as
     select key, document, ${columns}, to_tsvector('simple', document #>> '{descriptor,name}') as words from discovery.resource`,
  );
  for (const columns of ['(sugar, fat)', 'using gin (words)'])
    await database.query(`create index on ${table} ${columns}`);
}

export const plainScan = `select count(*) from ${table} where document::text like '%chocolat%'`;

export function changed(catalog, mark) {
  const product = { ...catalog.resources[0], batch: mark };
  return { catalog: { ...catalog, resources: [product] }, intent: filter(`@.batch == '${mark}'`) };
}
