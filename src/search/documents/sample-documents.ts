import type { Queryable } from '../../storage/database.ts';
import { Parameters } from '../../storage/parameters.ts';
import { sampleCatalogs } from './sample-catalogs.ts';
import { addScope, type Scope, servedCondition } from './scope.ts';

/** Documents that a search can find, as texts. The numbers of uses are exact up to `maxCatalogsCounted` catalogs. */
export interface DocumentSample {
  types: { type: string; uses: number }[];
  resources: string[];
  offers: string[];
}

const maxCatalogsCounted = 20_000;
const maxTypes = 50;
/** Types that are sampled by themselves: others are hardly met among catalogs of all types. */
const typesSampled = 8;
const sampleSize = { resources: 60, offers: 20 };

export async function sampleDocuments(queryable: Queryable, scope: Scope): Promise<DocumentSample> {
  const types = await countTypes(queryable, scope);
  const contexts = [undefined, ...types.slice(0, typesSampled).map(({ type }) => type)];
  const resources = new Set<string>();
  const offers = new Set<string>();
  for (const context of contexts) {
    const schemaContext = context === undefined ? [] : [context];
    for (const catalog of await sampleCatalogs(queryable, { ...scope, schemaContext }, sampleSize)) {
      for (const text of catalog.resources) resources.add(text);
      for (const text of catalog.offers) offers.add(text);
    }
  }
  return { types, resources: [...resources], offers: [...offers] };
}

/** Those that are used most. */
async function countTypes(queryable: Queryable, scope: Scope): Promise<DocumentSample['types']> {
  const parameters = new Parameters();
  const served = servedCondition('catalog', addScope(scope, parameters));
  const { rows } = await queryable.query<{ type: string; uses: number }>(
    `select type, sum(uses::bigint)::float8 as uses from (
       select schema_uses from discovery.catalog where ${served} limit ${maxCatalogsCounted}
     ) as counted cross join lateral jsonb_each_text(schema_uses) as used (type, uses)
     where position('#' in type) > 0
     group by type order by uses desc, type limit ${maxTypes}`,
    parameters.values,
  );
  return rows;
}
