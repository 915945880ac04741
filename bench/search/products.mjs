// Real products (Open Food Facts, in TEST_DATA_DIR: see CONTRIBUTING.md), and the kinds of questions that are measured on them, as in stations.mjs.
// They have names in many languages and nutrition facts, and no places.
import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { textsOf, textsOfCatalog } from '../../dist/rules/text/searched-texts.js';
import {
  combinations,
  distinct,
  filter,
  limit,
  misspell,
  misspeltSql,
  pageBody,
  pageSql,
  textSql,
} from './questions.mjs';

const directory = process.env.TEST_DATA_DIR || '../shared/data';
const file = resolve(directory, 'retail/openfoodfacts-2019-products.tsv.gz');

export const isThere = existsSync(file);
export const catalogsAtOnce = 1;
export const resourcesPerCatalog = 1_000;

/** The part of a catalog to keep for questions about it. */
export const keep = (catalog) => ({ ...catalog, resources: catalog.resources.slice(0, 50) });

const amounts = ['fat', 'saturatedFat', 'carbohydrate', 'sugar', 'protein', 'salt'];
const table = 'plain.product';

export const plain = {
  table,
  columns: { sugar: 'float8', fat: 'float8' },
  indexes: ['(id)', '(sugar, fat)', 'using gin (words)'],
};

export const mapping = { barcode: { type: 'keyword' }, sugar: { type: 'double' }, fat: { type: 'double' } };

/** A thousand products in each. */
export async function* catalogs({ resources }) {
  let products = [];
  let made = 0;
  for await (const line of createInterface(createReadStream(file).pipe(createGunzip()))) {
    const [barcode, name, ...values] = line.split('\t');
    if (barcode === 'barcode') continue;
    const known = amounts.flatMap((amount, index) =>
      values[index] ? [[amount, Number(values[index])]] : [],
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

export function rowsOf({ resources, ...head }) {
  const around = [...textsOfCatalog(head), ...textsOf(head.provider)];
  return resources.map((resource) => ({
    id: resource.id,
    barcode: resource.id,
    page: { catalog: head, resource, offers: [] },
    words: [...textsOf(resource), ...around].map(({ text }) => text).join('\n'),
    sugar: resource.per100g.sugar,
    fat: resource.per100g.fat,
  }));
}

const commonWords =
  'chocolat noir lait bio sauce soup chicken organic fromage huile olive pomme orange juice tomato cream butter vanilla'.split(
    ' ',
  );
const [someWords, otherWords] = [commonWords.slice(0, 9), commonWords.slice(9)];

export function questionsOf(catalogs) {
  const products = catalogs.flatMap(({ resources }) =>
    resources.filter((_, index) => index % productsBetween(catalogs) === 0),
  );
  const complete = products.filter(({ per100g: { sugar, fat } }) => sugar !== undefined && fat !== undefined);
  const words = [...new Set(products.flatMap(longestWord))];
  const known = new Set(words);
  return distinct({
    equality: complete.map(equality),
    'unique fact': products.map(uniqueFact),
    'range + equality': complete.map((product) => rangeAndEquality(product)),
    'rare word': words.map((word) => text(word)),
    'common words': [...combinations(someWords, otherWords, ['milk', 'sugar', 'salt', 'water'])].map(
      (chosen) => text(chosen.join(' ')),
    ),
    'text + range': complete.map((product, index) =>
      textAndRange(product, commonWords[index % commonWords.length]),
    ),
    'typing error': words
      .filter((word) => word.length >= 5)
      .map((word) => misspell(word, known))
      .map((word) => ({ ...text(word), sql: misspeltSql(table, word) })),
    sentence: words.map((word, index) =>
      text(`where do I get ${commonWords[index % commonWords.length]} with ${word} for my kitchen`),
    ),
    'no limit': complete.map((product) => text(longestWord(product)[0] ?? 'salt', 1_000)),
  });
}

/** Selects about 600 of all products. */
function productsBetween(catalogs) {
  const count = catalogs.reduce((sum, { resources }) => sum + resources.length, 0);
  return Math.max(1, Math.floor(count / 600));
}

function equality({ per100g: { sugar } }) {
  return {
    message: { intent: filter(`@.per100g.sugar == ${sugar}`), limit },
    body: pageBody({ filters: [{ term: { sugar } }] }),
    sql: pageSql(table, 'sugar = $1', [sugar]),
    matches: ({ resource }) => resource.per100g.sugar === sugar,
  };
}

function uniqueFact({ id }) {
  return {
    message: { intent: filter(`@.id == '${id}'`), limit },
    body: pageBody({ filters: [{ term: { barcode: id } }] }),
    sql: pageSql(table, 'id = $1', [id]),
    matches: ({ resource }) => resource.id === id,
  };
}

function rangeAndEquality({ per100g: { sugar, fat } }) {
  return {
    message: { intent: filter(`@.per100g.sugar == ${sugar} && @.per100g.fat <= ${fat}`), limit },
    body: pageBody({ filters: [{ term: { sugar } }, { range: { fat: { lte: fat } } }] }),
    sql: pageSql(table, 'sugar = $1 and fat <= $2', [sugar, fat]),
    matches: ({ resource: { per100g } }) => per100g.sugar === sugar && per100g.fat <= fat,
  };
}

function textAndRange({ per100g: { sugar } }, word) {
  return {
    message: { intent: { textSearch: word, ...filter(`@.per100g.sugar < ${sugar}`) }, limit },
    body: pageBody({ text: word, filters: [{ range: { sugar: { lt: sugar } } }] }),
    sql: textSql(table, [word], { condition: 'sugar < $1', values: [sugar] }),
  };
}

function text(words, size = limit) {
  return {
    message: { intent: { textSearch: words }, ...(size === limit && { limit }) },
    body: pageBody({ text: words, size }),
    sql: textSql(table, words.split(' '), { size }),
  };
}

/** The longest word of a name with plain letters only, which all engines read alike. */
function longestWord({ descriptor }) {
  const words = (descriptor.name.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).filter((word) =>
    /^[a-z]{3,}$/i.test(word),
  );
  return words.length === 0
    ? []
    : [words.reduce((longest, word) => (word.length > longest.length ? word : longest)).toLowerCase()];
}

/** Products of a new batch, which discover finds by the given mark. */
export function changed(catalog, mark, resources) {
  const products = catalog.resources.slice(0, resources).map((product) => ({ ...product, batch: mark }));
  return { catalog: { ...catalog, resources: products }, intent: filter(`@.batch == '${mark}'`) };
}
