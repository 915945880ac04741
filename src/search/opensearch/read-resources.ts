import type { Json } from '../../protocol/json.ts';
import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { catalogKeyOf, headOf, lastNumbers } from '../documents/keys.ts';
import type { IndexFormat } from '../format/index-format.ts';
import { readGeometryRows, type StoredGeometryRow } from '../spatial/write-geometries.ts';
import { readDocumentWords } from '../text/dictionary.ts';
import { hash53, hashPaths } from '../write/attribute-entries.ts';
import { shapesOf } from './boxes.ts';
import { everyNetwork, type IndexedResource } from './mapping.ts';
import { numberTerm, termOf } from './terms.ts';

// Reads resources as OpenSearch holds them: each with the words of its catalog, of its provider and of the offers in its own catalog that are on it, valid now or not. Offers of other catalogs are looked up by
// searches (text/offer-words.ts).

/** A catalog whose wide offers have more words is found by every text. */
const maxWideWords = 5_000;

/** Those of the keys that there are. */
export async function readResources(
  queryable: Queryable,
  keys: readonly number[],
  format: IndexFormat,
): Promise<IndexedResource[]> {
  if (keys.length === 0) return [];
  const heads = [...new Set(keys.map(headOf))];
  const [resources, catalogs, geometries] = await Promise.all([
    readRows(queryable, keys),
    readCatalogs(queryable, heads.map(catalogKeyOf)),
    readGeometryRows(queryable, [...keys, ...heads]),
  ]);
  return resources.flatMap((row) => {
    const catalog = catalogs.get(catalogKeyOf(row.key));
    if (catalog === undefined) return [];
    const found = [...(geometries.get(row.key) ?? []), ...(geometries.get(headOf(row.key)) ?? [])];
    return [buildResource(row, catalog, found, format)];
  });
}

interface ResourceRow {
  key: number;
  /** JSON text. */
  document: string;
  words: Buffer;
  /** Of the offers that name it, one after the other; null where those of one are not stored. */
  named: Buffer | null;
}

interface CatalogRow {
  key: number;
  networks: string[];
  words: Buffer;
  /** Of its wide offers. */
  wide: Buffer | null;
}

async function readRows(queryable: Queryable, keys: readonly number[]): Promise<ResourceRow[]> {
  const { rows } = await queryable.query<ResourceRow>(
    `select resource.key, resource.document::text as document, resource.words, case when bare then null else named end as named
     from unnest($1::bigint[]) as wanted (key) join discovery.resource using (key)
     join discovery.catalog on catalog.key = resource.catalog_key
     cross join lateral (
       select coalesce(string_agg(offer.words, ''), '') as named, coalesce(bool_or(offer.words is null), false) as bare
       from discovery.offer_target as target join discovery.offer on offer.key = target.offer_key
       where target.owner = catalog.owner and target.resource_id = resource.id
         and target.offer_key > resource.catalog_key << 26 and target.offer_key < (resource.catalog_key + 1) << 26
     ) as offers`,
    [bigintArray(keys)],
    { prepared: true },
  );
  return rows;
}

async function readCatalogs(
  queryable: Queryable,
  keys: readonly number[],
): Promise<Map<number, CatalogWords>> {
  const { rows } = await queryable.query<CatalogRow>(
    `select catalog.key, networks, catalog.words, case when bare then null else wide end as wide
     from unnest($1::bigint[]) as wanted (key) join discovery.catalog using (key)
     cross join lateral (
       select coalesce(string_agg(offer.words, ''), '') as wide, coalesce(bool_or(offer.words is null), false) as bare
       from discovery.offer
       where offer.key > catalog.key << 26 and offer.key < (catalog.key + 1) << 26 and resource_ids is null
     ) as offers`,
    [bigintArray(keys)],
    { prepared: true },
  );
  return new Map(rows.map((row) => [row.key, wordsOf(row)]));
}

interface CatalogWords {
  key: number;
  networks: string[];
  words: ReadonlySet<number>;
  hasAnyWord: boolean;
}

function wordsOf({ key, networks, words, wide }: CatalogRow): CatalogWords {
  const ids = new Set<number>();
  addWords(ids, words);
  addWords(ids, wide);
  const hasAnyWord = wide === null || ids.size > maxWideWords;
  return { key, networks, words: hasAnyWord ? new Set() : ids, hasAnyWord };
}

function addWords(ids: Set<number>, packed: Buffer | null): void {
  if (packed) readDocumentWords(packed, (id) => void ids.add(id));
}

function buildResource(
  { key, document, words, named }: ResourceRow,
  catalog: CatalogWords,
  geometries: readonly StoredGeometryRow[],
  { attributes }: IndexFormat,
): IndexedResource {
  const parsed: Json = JSON.parse(document);
  const { facts, numbers } = attributes.entries(parsed);
  const ids = new Set(catalog.words);
  addWords(ids, words);
  addWords(ids, named);
  return {
    key,
    catalog: catalog.key,
    networks: catalog.networks.length > 0 ? catalog.networks : [everyNetwork],
    facts: Array.from(facts, termOf),
    paths: Array.from(hashPaths(parsed), termOf),
    numbers: Array.from(numbers).flatMap(([path, values]) =>
      Array.from(values, (value) => numberTerm(path, value)),
    ),
    words: Array.from(ids, termOf),
    hasAnyWord: catalog.hasAnyWord || named === null,
    targets: [...new Set(geometries.map(({ path }) => targetTerm(path)))],
    shapes: geometries.flatMap(({ low, high }) =>
      shapesOf({ low: [...low] as Vector, high: [...high] as Vector }),
    ),
  };
}

type Vector = [number, number, number];

/** The path of a geometry. */
export function targetTerm(path: string): string {
  return termOf(hash53(path));
}

/** The keys of all resources of these catalogs, which are given by their heads. */
export async function listResources(queryable: Queryable, heads: readonly number[]): Promise<number[]> {
  if (heads.length === 0) return [];
  const { rows } = await queryable.query<{ keys: string | null }>(
    `select array_to_json(array_agg(resource.key))::text as keys from unnest($1::bigint[]) as wanted (head)
     join discovery.resource on resource.key > head and resource.key <= head + ${lastNumbers.resource}`,
    [bigintArray(heads)],
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}

/** The next resources in the order of keys. */
export async function listAfter(queryable: Queryable, after: number, limit: number): Promise<number[]> {
  const { rows } = await queryable.query<{ key: number }>(
    'select key from discovery.resource where key > $1 order by key limit $2',
    [after, limit],
  );
  return rows.map(({ key }) => key);
}
