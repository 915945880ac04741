import {
  type Duplicates,
  findDuplicates,
  type OperatorPlace,
  type SharedEvseIds,
} from '../../rules/duplicates.ts';
import type { Queryable } from '../database.ts';

/**
 * The nodes of the discovery service that publish the same chargers. EVSE ids are compared only through an index. Places are compared if several
 * nodes name the same operator, up to a number of chargers.
 */
export async function readDuplicates(queryable: Queryable): Promise<Duplicates[]> {
  const shared = await queryable.rows<SharedEvseIds>(sharedEvseIds, [mostPairs]);
  const bounds = [mostChargersOfCatalog, mostChargers];
  const places = await queryable.rows<OperatorPlace>(placesOfSharedOperators, bounds);
  return findDuplicates(shared, places);
}

/** More pairs of nodes than anybody reads. */
const mostPairs = 100;
/** So that one large catalog leaves room for others. */
const mostChargersOfCatalog = 1_000;
/** Documents read in about a second. */
const mostChargers = 50_000;

const isFound = `served and is_active and type = 'REGULAR'`;

/** Texts such as "unknown" are not EVSE ids. */
const sharedEvseIds = `with published as (
    select distinct evse, owner from (
      select evse from discovery.resource where evse is not null group by evse having min(catalog_key) < max(catalog_key)
    ) as repeated
    join discovery.resource using (evse) join discovery.catalog on catalog.key = catalog_key
    where ${isFound} and length(evse) >= 6 and evse ~ '[0-9]'
  ), pair as (
    select array[one.owner, other.owner] as nodes, count(*) as count, (array_agg(evse order by evse))[1:3] as firsts
    from published as one join published as other using (evse) where one.owner < other.owner
    group by one.owner, other.owner order by count desc limit $1
  )
  select nodes, count, array(
    select (select document #>> '{resourceAttributes,attributes,evseId}' from discovery.resource where evse = wanted limit 1) from unnest(firsts) as wanted
  ) as examples from pair`;

/** In a catalog per station, the provider has the place; in one per region or operator, each charger has. */
const placesOfSharedOperators = `select distinct operator, node, (point -> 0)::float8 as longitude, (point -> 1)::float8 as latitude from (
    select head #>> '{provider,descriptor,name}' as operator, owner as node, point
    from (
      select operator from discovery.catalog where operator is not null and ${isFound} group by operator having min(owner) < max(owner)
    ) as shared
    join discovery.catalog using (operator),
    lateral (
      select jsonb_path_query(head::jsonb, '$.provider.availableAt.geo ? (@.type == "Point").coordinates') as point
      union all
      (select document #> '{resourceAttributes,attributes,location,geo,coordinates}' from discovery.resource
        where resource.key > catalog.key << 26 and resource.key < (catalog.key + 1) << 26 limit $1)
    ) as place
    where ${isFound} and array_to_string(schema_types, ' ') like '%/EnergyResourceEVCharger/%'
    limit $2
  ) as place
  where jsonb_typeof(point -> 0) = 'number' and jsonb_typeof(point -> 1) = 'number'`;
