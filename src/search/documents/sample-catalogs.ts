import type { Queryable } from '../../storage/database.ts';
import { Parameters } from '../../storage/parameters.ts';
import { addScope, type Scope, servedCondition } from './scope.ts';

// A bounded sample of the catalogs in scope: each statement reads a limited number of rows, however large the index is.

/** Probes, spread over the keys of all catalogs, find one catalog each. */
const probes = 20;
/** Catalogs that each probe looks at. */
const lookedAtOnce = 25;
/** Catalogs beside those. */
const firstCatalogs = 10;
/** Documents of each. */
const usualSize: SampleSize = { resources: 4, offers: 2 };
/** Larger documents say too little for their size. */
const maxDocumentBytes = 16 * 1024;

/** Whether some catalog is searched at all. */
export async function isAnySearched(queryable: Queryable, scope: Scope): Promise<boolean> {
  const parameters = new Parameters();
  const { named, served } = searchedConditions(scope, parameters);
  const { rows } = await queryable.query(
    `with ${named} select from named where ${served('named')} limit 1`,
    parameters.values,
  );
  return rows.length > 0;
}

/**
 * Catalogs that a request names by network and schema context, and those that are served. The former are a statement of their own: PostgreSQL asks
 * the indexes of those for names that are rare, and reads no more than it needs of those that are common. With a limit in the same statement it
 * would look through all catalogs for a name that none has.
 */
function searchedConditions(
  { networkId, schemaContext, now }: Scope,
  parameters: Parameters,
): { named: string; served: (alias: string) => string } {
  const scope = addScope({ now, schemaContext: [] }, parameters);
  const conditions = [
    ...(networkId === undefined
      ? []
      : [`(networks @> array[${parameters.add(networkId)}::text] or networks = '{}')`]),
    ...(schemaContext.length === 0 ? [] : [`schema_types && ${parameters.add(schemaContext)}::text[]`]),
  ].join(' and ');
  return {
    named: `named as materialized (
      select ${scopeColumns} from discovery.catalog where ${conditions || 'true'})`,
    served: (alias) => `${servedCondition(alias, scope)} and (${conditions || 'true'})`,
  };
}

const scopeColumns =
  'key, type, is_active, served, networks, schema_types, valid_from, valid_until, window_start, window_length';

export interface SampledCatalog {
  head: string;
  resources: string[];
  offers: string[];
}

export interface SampleSize {
  resources: number;
  offers: number;
}

/** Some searched catalogs, with some of their resources and offers. */
export async function sampleCatalogs(
  queryable: Queryable,
  scope: Scope,
  size = usualSize,
): Promise<SampledCatalog[]> {
  const parameters = new Parameters();
  const { named, served } = searchedConditions(scope, parameters);
  const { rows } = await queryable.query<{ home: number; kind: keyof SampledCatalog; document: string }>(
    `with ${named}, probe as (
       select low + (high - low) * number / ${probes} as start
       from (select min(key) as low, max(key) as high from discovery.catalog) as bounds,
         generate_series(0, ${probes - 1}) as number
     ), spread as (
       select found.key from probe cross join lateral (
         select key from (
           select ${scopeColumns} from discovery.catalog where key >= start order by key limit ${lookedAtOnce}) as near
         where ${served('near')} limit 1) as found
     ), chosen as materialized (
       select key from spread
       union
       -- Of a network or schema that few catalogs have, hardly any are near the probes.
       (select key from named where ${served('named')} limit ${firstCatalogs})
     )
     select key as home, 'head' as kind, head::text as document from discovery.catalog join chosen using (key)
     where ${isSmall('head')}
     union all
     select chosen.key, 'resources', document::text from chosen cross join lateral (
       select document from discovery.resource
       where resource.key > chosen.key << 26 and resource.key < (chosen.key + 1) << 26
       order by resource.key limit ${size.resources}) as resource
     where ${isSmall('document')}
     union all
     select chosen.key, 'offers', document::text from chosen cross join lateral (
       select document from discovery.offer
       where offer.key > chosen.key << 26 and offer.key < (chosen.key + 1) << 26
       order by offer.key limit ${size.offers}) as offer
     where ${isSmall('document')}`,
    parameters.values,
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

/** Compressed it is told apart at once. */
function isSmall(column: string): string {
  return `pg_column_size(${column}) <= ${maxDocumentBytes} and octet_length(${column}::text) <= ${maxDocumentBytes}`;
}
