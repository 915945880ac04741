import type { Queryable } from '../database.ts';

// What there is, in numbers and names, for the console.

const maxNetworks = 200;

/** The networks that participants are members of, and whether anybody is crawled. */
export async function listKnownNetworks(
  queryable: Queryable,
): Promise<{ networks: string[]; isCrawling: boolean }> {
  const { rows } = await queryable.query<{ networks: string[]; isCrawling: boolean }>(
    `select exists (select from discovery.crawl_source) as "isCrawling", array(
       select distinct network_id from registry.membership order by 1 limit $1
     ) as networks`,
    [maxNetworks],
  );
  return rows[0] ?? { networks: [], isCrawling: false };
}
