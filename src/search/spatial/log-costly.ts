import type { Logger } from '../../logger.ts';
import type { Queryable } from '../../storage/database.ts';
import { catalogKeyOf } from '../keys.ts';
import type { KeyedShape } from './read-geometries.ts';

/**
 * Names, in the log, the stored geometry that a search was comparing when its time was over: by its catalog, resource or offer, and path. The coordinates are left out.
 * The search's own reader has no time left, so the database is asked.
 */
export function logCostlyIn(database: Queryable, index: string, logger: Logger | undefined) {
  return async ({ key, shape }: KeyedShape): Promise<void> => {
    if (logger === undefined) return;
    try {
      const { rows } = await database.query<{ owner: string; catalogId: string; id?: string; path: string }>(
        `select catalog.owner, catalog.id as "catalogId", coalesce(resource.id, offer.id) as id, path.path
         from ${index}.geometry join ${index}.geometry_path as path on path.id = path_id
         join discovery.catalog on catalog.key = $2
         left join discovery.resource on resource.key = geometry.key left join discovery.offer on offer.key = geometry.key
         where geometry.key = $1 and shape::text = $3 limit 1`,
        [key, catalogKeyOf(key), shape],
        { timeoutMs },
      );
      logger.warn({ ...rows[0], characters: shape.length }, 'a geometry was not compared in time');
    } catch (error) {
      logger.warn({ err: error, key }, 'a geometry was not compared in time, and its name was not found');
    }
  };
}

const timeoutMs = 1_000;
