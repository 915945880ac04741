// The collections that answers are judged on: products with the grades that people gave them for queries, and romanised Hindi words with their native
// form. They are not part of the project (CONTRIBUTING.md: TEST_DATA_DIR).
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';

const dataDirectory = resolve(process.env.TEST_DATA_DIR || '../shared/data');

/** Undefined if the directory does not have them. Grades are 0 to 3, by query and product. */
export function readJudged(directory = join(dataDirectory, 'relevance')) {
  const judgements = join(directory, 'judgements.tsv');
  const file = ['products.jsonl.gz', 'products.jsonl'].map((name) => join(directory, name)).find(existsSync);
  if (file === undefined || !existsSync(judgements)) return undefined;
  const queries = new Map();
  for (const [query, product, grade] of rowsOf(judgements).slice(1)) {
    if (!queries.has(query)) queries.set(query, new Map());
    queries.get(query).set(product, Number(grade));
  }
  const bytes = readFileSync(file);
  const lines = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().trim().split('\n');
  return { products: lines.map((line) => JSON.parse(line)), queries };
}

/** Pairs of a romanised word and its native form; several words may have the same form. */
export function readRomanised(file = join(dataDirectory, 'indic/hi-romanised.tsv')) {
  return existsSync(file)
    ? rowsOf(file).map(([romanised, native]) => [romanised.toLowerCase(), native])
    : undefined;
}

function rowsOf(file) {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
}

/** A resource as a shop would publish it. */
export function resourceOf({ id, name, description, brand, price, attributes }) {
  return {
    id,
    descriptor: { name, shortDesc: description },
    resourceAttributes: {
      '@context': 'https://example.org/product.jsonld',
      '@type': 'Product',
      brand,
      price,
      ...attributes,
    },
  };
}

/** The texts of a product that are searched. */
export function textsOf({ name, description, brand, attributes }) {
  return {
    name,
    description,
    attributes: [brand, ...Object.values(attributes)].filter((value) => typeof value === 'string').join('\n'),
  };
}

/** In the order of the resources, each with at most as many as a service accepts. */
export function* catalogsOf(name, resources) {
  for (let from = 0; from < resources.length; from += resourcesPerCatalog)
    yield {
      id: `${name}-${from / resourcesPerCatalog}`,
      descriptor: { name: 'Assortment' },
      provider: { id: name, descriptor: { name: 'Shop' } },
      resources: resources.slice(from, from + resourcesPerCatalog),
    };
}

const resourcesPerCatalog = 500;
