import type { Catalog, Resource } from '../../../src/protocol/catalog.ts';
import type { ResourceDirective } from '../../../src/protocol/publish-messages.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { Actor, Body } from '../network/actor.ts';
import { startNetwork, type TestNetwork } from '../network/network.ts';
import { type Directive, publish, served } from '../network/publish.ts';
import { until } from '../time.ts';

// Master catalogs of coffee, and catalogs that extend them. There is no schema of coffee, so all attributes are valid.

export const retail = 'a.example/retail';
export const energy = 'b.example/energy';
export const coffeeContext = 'https://example.org/Coffee/v1/context.jsonld';

export interface MasterNetwork {
  network: TestNetwork;
  /** Publishes masters. */
  facilitator: Actor;
  provider: Actor;
  rival: Actor;
}

export async function startMasterNetwork(): Promise<MasterNetwork> {
  const network = await startNetwork();
  return {
    network,
    facilitator: await network.actor('facilitator'),
    provider: await network.actor('provider'),
    rival: await network.actor('rival'),
  };
}

export function coffee(
  id: string,
  attributes: object = {},
  descriptor: Resource['descriptor'] = undefined,
): Resource {
  return {
    id,
    ...(descriptor && { descriptor }),
    resourceAttributes: { '@context': coffeeContext, '@type': 'Coffee', ...attributes },
  };
}

export function extending(
  resourceId: string,
  masterResourceId: string,
  variant?: ResourceDirective['variant'],
): ResourceDirective {
  return { resourceId, extends: { masterResourceId }, ...(variant && { variant }) };
}

export function publishMaster(as: Actor, one: Catalog, directive: Directive = {}): Promise<Body> {
  return publish(as, one, { catalogType: 'MASTER', visibleTo: [retail], ...directive });
}

/** A REGULAR catalog whose every resource extends the master resource. */
export function publishExtending(
  as: Actor,
  one: Catalog,
  masterResourceId: string,
  directive: Directive = {},
): Promise<Body> {
  const resourceDirectives = one.resources?.map(({ id }) => extending(id, masterResourceId));
  return publish(as, one, { visibleTo: [retail], resourceDirectives, ...directive });
}

/** The resource as it leaves the service. */
export async function servedResource(database: Database, catalogId: string, id: string): Promise<Body> {
  const { resources } = await served(database, catalogId);
  return resources.find((resource: Body) => resource.id === id);
}

/** The resource as it was published. */
export async function storedOwn(database: Database, catalogId: string, id: string): Promise<Body> {
  const { rows } = await database.query<{ own: string }>(
    `select own from catalog.resource join catalog.catalog on key = catalog_key
     where catalog.id = $1 and resource.id = $2`,
    [catalogId, id],
  );
  return JSON.parse(rows[0]?.own ?? 'null');
}

/** Waits until every dependent is assembled with the current version of its master. */
export async function rebuilt(database: Database): Promise<void> {
  const isIdle = async () => {
    const { rowCount } = await database.query('select from catalog.rebuild where due_at is not null');
    return rowCount === 0;
  };
  await until(isIdle, 'all rebuilds to be done');
}
