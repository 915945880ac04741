import { numberArray } from './bulk.ts';
import type { Queryable } from './database.ts';
import { checkCondition, type DocumentCheck } from './discovery-candidates.ts';
import { createParameters } from './discovery-gate.ts';

// What an answer is made of: the documents of the resources that were found, and their catalogs.

export interface FoundDocument {
  key: number;
  catalog_key: number;
  document: string;
}

/** In the order of the keys. What has gone meanwhile is left out, and what was found only because its hash is that of something else. */
export async function readResources(
  queryable: Queryable,
  keys: readonly number[],
  check?: DocumentCheck,
): Promise<{ resources: FoundDocument[]; heads: Map<number, string> }> {
  const parameters = createParameters();
  const wanted = parameters.add(numberArray(keys));
  const { rows } = await queryable.query<FoundDocument & { head: string | null }>(
    `select resource.key, catalog_key, document::text as document,
       case when row_number() over (partition by catalog_key order by place) = 1 then catalog.head end as head
     from unnest(${wanted}::bigint[]) with ordinality as found (key, place)
     join discovery.resource using (key)
     join discovery.catalog on catalog.key = catalog_key
     ${check ? `where ${checkCondition(check, parameters)}` : ''}
     order by place`,
    parameters.values,
    { prepared: true },
  );
  const heads = new Map(
    rows.flatMap(({ catalog_key, head }) => (head === null ? [] : [[catalog_key, head]])),
  );
  return { resources: rows, heads };
}

export async function readCatalogHeads(
  queryable: Queryable,
  keys: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await queryable.query<{ key: number; head: string }>(
    'select key, head from discovery.catalog where key = any ($1::bigint[]) order by key',
    [numberArray(keys)],
  );
  return new Map(rows.map(({ key, head }) => [key, head]));
}

/** All resources of these catalogs. */
export async function readCatalogResources(
  queryable: Queryable,
  keys: readonly number[],
): Promise<FoundDocument[]> {
  const { rows } = await queryable.query<FoundDocument>(
    `select resource.key, catalog_key, document::text as document
     from unnest($1::bigint[]) as wanted (key)
     join discovery.resource on resource.key > wanted.key << 26 and resource.key < (wanted.key + 1) << 26
     order by resource.key`,
    [numberArray(keys)],
  );
  return rows;
}
