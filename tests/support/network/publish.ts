import { expect } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import type { Catalog, CatalogType } from '../../../src/protocol/catalog.ts';
import type { PublishDirective } from '../../../src/protocol/publish-messages.ts';
import { findCatalog } from '../../../src/storage/catalog/catalogs.ts';
import { readCatalog } from '../../../src/storage/catalog/reader.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { Actor, Body, SendOptions } from './actor.ts';

// Publishes like a Provider Node: the catalog is sent, the ACK returns, and the result follows in on_publish.

export type Directive = Omit<Partial<PublishDirective>, 'catalogId'>;

/** Publishes one catalog, which must be acknowledged; returns the messageId. */
export async function submit(
  as: Actor,
  one: Catalog,
  directive?: Directive,
  options?: SendOptions,
): Promise<string> {
  const catalogType: CatalogType = 'REGULAR';
  const publishDirectives = directive && [{ catalogId: one.id, catalogType, ...directive }];
  const { status, messageId, body } = await as.send(
    actions.publish,
    { catalogs: [one], publishDirectives },
    options,
  );
  expect({ status, body }).toMatchObject({ status: 200, body: { message: { status: 'ACK', messageId } } });
  return messageId;
}

/** Publishes one catalog and waits for its result. */
export async function publish(
  as: Actor,
  one: Catalog,
  directive?: Directive,
  options?: SendOptions,
): Promise<Body> {
  const callback = await as.waitFor('catalog/on_publish', await submit(as, one, directive, options));
  expect(callback.body.message.results).toHaveLength(1);
  return callback.body.message.results[0];
}

/** The catalog as the service serves it; undefined if there is none. */
export async function served(database: Database, id: string): Promise<Body | undefined> {
  const row = await findCatalog(database, id);
  if (row === undefined) return undefined;
  let text = '';
  for await (const piece of readCatalog(database, row.key)) text += piece;
  return JSON.parse(text);
}

/** The catalog as a search shows it. */
export async function searched(as: Actor, id: string, type = 'REGULAR'): Promise<Body | undefined> {
  const { body } = await as.send(actions.search, { filters: { type }, limit: 100 });
  return body.message.catalogs.find((found: Body) => found.id === id);
}
