import { bigintArray } from '../../storage/binary-arrays.ts';
import type { IndexReader } from '../cache/caches.ts';
import { catalogKeyOf } from '../keys.ts';
import { decodeKeys } from './members.ts';
import { type Scope, selectSearched } from './scope.ts';

// A bounded sample of the catalogs in scope: each statement reads a limited number of rows, for any size of the index.

/** Maximum of catalogs of the network and schema, and of others spread over all keys: `atProbe` at each of some probes. */
const lookedAt = { named: 2_000, probes: 20, atProbe: 25 };
/** Number of catalogs in a sample, and documents of each. */
const sampled = { catalogs: 30, resources: 4, offers: 2 };
/** Larger documents are skipped: they are too large for what they show. */
const maxDocumentBytes = 16 * 1024;

/** Some searched catalogs, by their heads. `isAll`: there are no others. A limit in `named` itself would scan all catalogs for an unused network. */
export async function findSearched(reader: IndexReader, scope: Scope, named = lookedAt.named) {
  const found = await reader.first<{ heads: Buffer | null; named: number }>(
    `with named as materialized (
       select key from discovery.catalog
       where ($1::text is null or networks @> array[$1] or networks = '{}') and (cardinality($2::text[]) = 0 or schema_types && $2)
     ), first as materialized (select key from named limit ${named}), probe as (
       select low + (high - low) * number / ${lookedAt.probes} as start
       from (select min(key) as low, max(key) as high from discovery.catalog) as bounds, generate_series(0, ${lookedAt.probes - 1}) as number
     ), seen as (
       select key from first
       union
       select found.key from probe cross join lateral (
         select key from discovery.catalog where key >= start order by key limit ${lookedAt.atProbe}) as found
     )
     select string_agg(int8send(key << 26), '' order by key) as heads, (select count(*) from first) as named from seen`,
    [scope.networkId ?? null, scope.schemaContext],
  );
  const heads = await selectSearched(reader, decodeKeys(found?.heads), scope);
  return { heads, isAll: Number(found?.named) < named };
}

export interface SampledCatalog {
  head: string;
  resources: string[];
  offers: string[];
}

/** Some searched catalogs, with some of their resources and offers. */
export async function sampleCatalogs(
  reader: IndexReader,
  scope: Scope,
  size: Pick<typeof sampled, 'resources' | 'offers'> = sampled,
): Promise<SampledCatalog[]> {
  const { heads } = await findSearched(reader, scope);
  const every = Math.ceil(heads.length / sampled.catalogs);
  const listed = (kind: 'resource' | 'offer', limit: number) =>
    `select chosen.key, '${kind}s', document::text from chosen cross join lateral (
       select document from discovery.${kind}
       where ${kind}.key > chosen.key << 26 and ${kind}.key < (chosen.key + 1) << 26
       order by ${kind}.key limit ${limit}) as ${kind}
     where ${isSmall('document')}`;
  const rows = await reader.rows<{ home: number; kind: keyof SampledCatalog; document: string }>(
    `with chosen as (select key from unnest($1::bigint[]) as key)
     select key as home, 'head' as kind, head::text as document from discovery.catalog join chosen using (key) where ${isSmall('head')}
     union all ${listed('resource', size.resources)}
     union all ${listed('offer', size.offers)}`,
    [bigintArray(heads.filter((_, index) => index % every === 0).map(catalogKeyOf))],
  );
  const catalogs = new Map<number, SampledCatalog>();
  for (const { home, kind, document } of rows) {
    const catalog = catalogs.get(home) ?? { head: '{}', resources: [], offers: [] };
    catalogs.set(home, catalog);
    if (kind === 'head') catalog.head = document;
    else catalog[kind].push(document);
  }
  return [...catalogs.values()];
}

/** The compressed size is known at once. */
function isSmall(column: string): string {
  return `pg_column_size(${column}) <= ${maxDocumentBytes} and octet_length(${column}::text) <= ${maxDocumentBytes}`;
}

/** Documents that a search can find, as texts. The numbers of uses are exact up to `maxCatalogsCounted` catalogs. */
export interface DocumentSample {
  types: { type: string; uses: number }[];
  resources: string[];
  offers: string[];
}

const maxCatalogsCounted = 20_000;
const maxTypes = 50;
/** Types with separate samples: a sample of all types would rarely include them. */
const typesSampled = 8;
const sampleSize = { resources: 60, offers: 20 };

export async function sampleDocuments(reader: IndexReader, scope: Scope): Promise<DocumentSample> {
  const types = await countTypes(reader, scope);
  const contexts = [undefined, ...types.slice(0, typesSampled).map(({ type }) => type)];
  const [resources, offers] = [new Set<string>(), new Set<string>()];
  for (const context of contexts) {
    const schemaContext = context === undefined ? [] : [context];
    for (const catalog of await sampleCatalogs(reader, { ...scope, schemaContext }, sampleSize)) {
      for (const text of catalog.resources) resources.add(text);
      for (const text of catalog.offers) offers.add(text);
    }
  }
  return { types, resources: [...resources], offers: [...offers] };
}

/** The most used types. */
async function countTypes(reader: IndexReader, scope: Scope): Promise<DocumentSample['types']> {
  const { heads } = await findSearched(reader, scope, maxCatalogsCounted);
  return reader.rows(
    `select used.type, sum(uses::bigint)::float8 as uses
     from discovery.catalog cross join lateral jsonb_each_text(schema_uses) as used (type, uses)
     where key = any ($1::bigint[]) and position('#' in used.type) > 0
     group by used.type order by uses desc, used.type limit ${maxTypes}`,
    [bigintArray(heads.map(catalogKeyOf))],
  );
}
