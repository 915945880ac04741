import type { CatalogType } from '../../protocol/catalog.ts';
import type { PeriodBounds } from '../../rules/time-period.ts';
import type { Queryable } from '../../storage/database.ts';
import { readPeriod, validityText } from '../validity.ts';

/** A resource as a person names it. */
export interface AskedResource {
  id: string;
  catalogId?: string;
  /** Identity of the node that publishes it. */
  owner?: string;
}

/** A resource of the index, with everything that decides whether its catalog is searched. */
export interface IndexedResource {
  key: number;
  catalogId: string;
  owner: string;
  /** JSON text. */
  document: string;
  type: CatalogType;
  isActive: boolean;
  isServed: boolean;
  networks: string[];
  schemaTypes: string[];
  validity: PeriodBounds;
}

const maxSameIds = 20;

/** Finds resources by id, served ones first, because several catalogs may have the same id. */
export async function findIndexed(queryable: Queryable, { id, catalogId, owner }: AskedResource) {
  const rows = await queryable.rows<Omit<IndexedResource, 'validity'> & { validity: string | null }>(
    `select resource.key, catalog.id as "catalogId", catalog.owner,
       resource.document::text as document, catalog.type, is_active as "isActive", served as "isServed",
       networks, schema_types as "schemaTypes", ${validityText('catalog.')} as validity
     from discovery.resource join discovery.catalog on catalog.key = resource.catalog_key
     where resource.id = $1 and ($2::text is null or catalog.id = $2) and ($3::text is null or catalog.owner = $3)
     order by served desc, is_active desc, catalog.type desc, resource.key limit ${maxSameIds}`,
    [id, catalogId ?? null, owner ?? null],
  );
  return rows.map(({ validity, ...row }) => ({ ...row, validity: readPeriod(validity) }));
}
