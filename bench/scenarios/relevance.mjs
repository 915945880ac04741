// Relevance: products with grades by people (CONTRIBUTING.md: TEST_DATA_DIR, or --data DIR), published to the real service and discovered with the
// client in ranked order, beside OpenSearch with the same products; 1,000 misspelt words of them; and romanised Hindi, if TEST_DATA_DIR has it.
import { fileURLToPath } from 'node:url';
import { findObstacle, startOpenSearch } from '../../scripts/opensearch.mjs';
import { ratioTo } from '../measure.mjs';
import { catalogsOf, readJudged, readRomanised, resourceOf, textsOf } from '../relevance/collections.mjs';
import { intervalOf, mean, measureQuery, randomNumbers } from '../relevance/measures.mjs';
import { misspell } from '../relevance/misspelt.mjs';
import { baselines, fillOpenSearch, fuzzy } from '../relevance/open-search.mjs';
import { startShop } from '../relevance/shop.mjs';
import { chooseSizes } from '../sizes.mjs';

const sizes = chooseSizes({
  whole: {
    products: Number.POSITIVE_INFINITY,
    queries: 1_000,
    misspelt: 1_000,
    romanised: Number.POSITIVE_INFINITY,
    heapMb: 1_024,
  },
  miniature: { products: 60, queries: 3, misspelt: 3, romanised: 6, heapMb: 512 },
});
/** Hits per page. */
const page = 20;
const read = 100;
const worstShown = 12;
const splitSeed = 35;
const ownShop = fileURLToPath(new URL('../../tests/fixtures/relevance', import.meta.url));

export async function* run({ data, withoutOpenSearch }) {
  const judged = readJudged(['stations', 'products'].includes(data) ? undefined : data);
  if (!judged)
    console.error(
      `bench: ${data ?? 'TEST_DATA_DIR'} does not have the judged products; relevance is measured on the small shop of the tests`,
    );
  yield* measureJudged(judged ?? readJudged(ownShop), withoutOpenSearch);
  const romanised = readRomanised();
  if (romanised) yield* measureRomanised(romanised.slice(0, sizes.romanised));
  else console.error('bench: romanised Hindi is skipped: TEST_DATA_DIR does not have it');
}

async function* measureJudged({ products: all, queries: judgedQueries }, withoutOpenSearch) {
  const products = all.slice(0, sizes.products);
  const queries = new Map([...judgedQueries].slice(0, sizes.queries));
  const obstacle = withoutOpenSearch
    ? 'it is not wanted'
    : process.env.BENCH_OPENSEARCH_URL
      ? undefined
      : findObstacle();
  if (obstacle) console.error(`bench: relevance beside OpenSearch is skipped: ${obstacle}`);
  const shop = await startShop([...catalogsOf('products', products.map(resourceOf))]);
  const openSearch = obstacle ? undefined : await openOpenSearch();
  try {
    const askOpenSearch = openSearch && (await fillOpenSearch(openSearch.url, products));
    const engines = { ours: (query, size) => shop.find(query, size) };
    for (const name of askOpenSearch ? Object.keys(baselines) : [])
      engines[name] = (query, size) => askOpenSearch(name, query, size);
    const measured = {};
    for (const [name, find] of Object.entries(engines)) {
      measured[name] = new Map();
      for (const [query, grades] of queries)
        measured[name].set(query, measureQuery(await find(query, read), grades));
    }
    yield* judgedRows(measured);
    tellWorst(measured);
    yield* misspeltRows(products, engines);
  } finally {
    await openSearch?.close();
    await shop.close();
  }
}

const figures = {
  'nDCG@10': 'ndcg',
  'nDCG@10 of judged hits alone': 'judgedNdcg',
  'mean reciprocal rank': 'reciprocalRank',
  'recall@100': 'recall',
};

function* judgedRows({ ours, ...others }) {
  const valuesOf = (measured, figure) => Array.from(measured.values(), (each) => each[figure]);
  for (const [title, figure] of Object.entries(figures)) {
    const [low, high] = intervalOf(valuesOf(ours, figure)).map((bound) => bound.toFixed(3));
    const against = Object.entries(others).map(([name, measured]) => [
      name,
      mean(valuesOf(measured, figure)),
    ]);
    const best = Math.max(...against.map(([, value]) => value));
    yield {
      scenario: `${title} (95 %: ${low} to ${high})`,
      value: mean(valuesOf(ours, figure)),
      unit: 'of 1',
      ...(against.length > 0 && {
        against: `OpenSearch: ${against.map(([name, value]) => `${name} ${value.toFixed(3)}`).join('; ')}`,
        ratio: ratioTo(mean(valuesOf(ours, figure)), best),
      }),
    };
  }
  const random = randomNumbers(splitSeed);
  const places = valuesOf(ours, 'ndcg')
    .map((value) => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place);
  const halves = [places.slice(0, places.length / 2), places.slice(places.length / 2)];
  console.error(
    `bench: nDCG@10 of either half of a random split: ${halves.map((half) => mean(half.map(({ value }) => value)).toFixed(3)).join(', ')}`,
  );
  yield {
    scenario: 'queries without a hit',
    value: valuesOf(ours, 'found').filter((found) => found === 0).length,
    unit: 'queries',
  };
}

function tellWorst({ ours, ...others }) {
  const worst = [...ours]
    .filter(([, { ndcg }]) => ndcg !== undefined)
    .sort(([, a], [, b]) => a.ndcg - b.ndcg)
    .slice(0, worstShown);
  console.error('bench: the queries that lose most, nDCG@10 of ours and of the best baseline:');
  for (const [query, { ndcg }] of worst) {
    const best = Math.max(...Object.values(others).map((measured) => measured.get(query).ndcg));
    console.error(`  ${query}: ${ndcg.toFixed(3)}${Number.isFinite(best) ? `, ${best.toFixed(3)}` : ''}`);
  }
}

/** A hit counts if it has the intended word. */
async function* misspeltRows(products, engines) {
  const wordsById = new Map(products.map((product) => [product.id, wordsOf(product)]));
  const cases = misspell(wordsById, sizes.misspelt);
  const share = async (find) => {
    let [first, onPage] = [0, 0];
    for (const { typed, meant } of cases) {
      const hits = (await find(typed, page)).map((id) => wordsById.get(id)?.has(meant));
      if (hits[0]) first += 1;
      if (hits.includes(true)) onPage += 1;
    }
    return [first, onPage].map((count) => (100 * count) / cases.length);
  };
  const ours = await share(engines.ours);
  const theirs = engines[fuzzy] && (await share(engines[fuzzy]));
  for (const [index, where] of ['first', `among ${page}`].entries())
    yield {
      scenario: `misspelt word: the word meant is ${where}`,
      value: ours[index],
      unit: '%',
      ...(theirs && {
        against: `OpenSearch, ${fuzzy}: ${theirs[index].toFixed(1)} %`,
        ratio: ratioTo(ours[index], theirs[index]),
      }),
    };
}

function wordsOf(product) {
  return new Set(
    Object.values(textsOf(product))
      .join(' ')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [],
  );
}

/** In both directions: words of one script must find those of the other. */
async function* measureRomanised(pairs) {
  yield await acrossScripts('romanised Hindi finds its native word among ten', pairs);
  yield await acrossScripts(
    'a native Hindi word finds a romanised form among ten',
    pairs.map(([romanised, native]) => [native, romanised]),
  );
}

async function acrossScripts(scenario, pairs) {
  const resources = [...new Set(pairs.map(([, word]) => word))].map((word) => ({
    id: word,
    descriptor: { name: word },
  }));
  const shop = await startShop([...catalogsOf('words', resources)]);
  try {
    const answers = new Map(pairs.map(([asked]) => [asked, new Set()]));
    for (const [asked, word] of pairs) answers.get(asked).add(word);
    let found = 0;
    for (const [asked, words] of answers)
      if ((await shop.find(asked, 10)).some((id) => words.has(id))) found += 1;
    return { scenario, value: (100 * found) / answers.size, unit: '%' };
  } finally {
    await shop.close();
  }
}

async function openOpenSearch() {
  const url = process.env.BENCH_OPENSEARCH_URL;
  return url
    ? { url, close: () => fetch(`${url}/relevance`, { method: 'DELETE' }) }
    : startOpenSearch({ heapMb: sizes.heapMb });
}
