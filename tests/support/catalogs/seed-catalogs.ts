import type { Offer, Resource } from '../../../src/protocol/catalog.ts';
import { schemaTypesOf } from '../../../src/rules/match.ts';
import type { Database } from '../../../src/storage/database.ts';

/** The default network of catalogs. */
const defaultNetwork = 'nfh.global/beckn-nodes';

export interface SeedCatalog {
  id: string;
  owner?: string;
  type?: 'REGULAR' | 'MASTER';
  visibleTo?: string[];
  isActive?: boolean;
  validity?: object;
  resources?: Resource[];
  /** Assembled forms by resource id, where they differ from the published ones. */
  assembled?: Record<string, Resource>;
  offers?: Offer[];
}

/** Writes a catalog into the tables as a publish would leave it, without publishing. */
export async function seedCatalog(database: Database, catalog: SeedCatalog): Promise<void> {
  const { id, owner = 'provider.signpost.test/subscribers.beckn.one', type = 'REGULAR' } = catalog;
  const { visibleTo = [defaultNetwork], resources = [], offers = [], assembled = {} } = catalog;
  const { isActive, validity } = catalog;
  const head = {
    id,
    descriptor: { name: `Catalog ${id}` },
    provider: { id: 'p1', descriptor: { name: 'Provider' } },
    bppId: owner,
    bppUri: 'https://bpp.example.org',
    ...(isActive !== undefined && { isActive }),
    ...(validity && { validity }),
  };
  await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ key: number }>(
      `insert into catalog.catalog (id, owner, type, visible_to, version, full_version, members, head, is_active,
         resource_count, offer_count, schema_uses, schema_types, published_at, updated_at)
       values ($1, $2, $3, $4, 1, 1, $5, $5, $6, $7, $8, '{}', $9, now(), now()) returning key`,
      [
        ...[id, owner, type, visibleTo, JSON.stringify(head), isActive ?? true],
        ...[resources.length, offers.length, [...schemaTypesOf({ resources, offers })]],
      ],
    );
    const key = rows[0]?.key;
    for (const resource of resources) {
      const whole = assembled[resource.id];
      await tx.query(
        `insert into catalog.resource (catalog_key, id, own, assembled, changed_version) values ($1, $2, $3, $4, 1)`,
        [key, resource.id, JSON.stringify(resource), whole ? JSON.stringify(whole) : null],
      );
    }
    for (const offer of offers) {
      await tx.query(
        'insert into catalog.offer (catalog_key, id, own, changed_version) values ($1, $2, $3, 1)',
        [key, offer.id, JSON.stringify(offer)],
      );
    }
  });
}

/** Many resources, generated in the database, each of about `bytes` bytes. */
export async function seedResources(
  database: Database,
  catalogId: string,
  { count, bytes = 500 }: { count: number; bytes?: number },
): Promise<void> {
  await database.query(
    `insert into catalog.resource (catalog_key, id, own, changed_version)
     select key, 'r' || n,
       json_build_object('id', 'r' || n, 'descriptor', json_build_object('name', 'Resource ' || n,
         'longDesc', (select left(string_agg(md5(n || '/' || part), ''), $3) from generate_series(0, $3 / 32) as part))), 1
     from catalog.catalog cross join generate_series(1, $2::int) as n where catalog.id = $1`,
    [catalogId, count, bytes],
  );
}
