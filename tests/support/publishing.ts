import { expect } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import type { Catalog, Offer, Resource } from '../../src/protocol/catalog.ts';
import type { PublishDirective } from '../../src/protocol/publish-messages.ts';
import type { Actor } from './actor.ts';

export type PartialCatalog = Partial<Catalog> & { id: string };

/** Publishes one catalog, filled up where something is missing, and waits until it was ACCEPTED. */
export async function publishCatalog(
  provider: Actor,
  catalog: PartialCatalog,
  directive: Partial<PublishDirective> = {},
): Promise<void> {
  const { status, messageId } = await provider.send(actions.publish, {
    catalogs: [
      {
        descriptor: { name: `Catalog ${catalog.id}` },
        provider: { id: 'p1', descriptor: { name: 'Provider' } },
        ...catalog,
      },
    ],
    publishDirectives: [{ catalogId: catalog.id, catalogType: 'REGULAR', ...directive }],
  });
  expect(status).toBe(200);
  const { body } = await provider.waitFor('catalog/on_publish', messageId);
  expect(body.message.results).toMatchObject([{ status: 'ACCEPTED' }]);
}

let ids = 0;

/** A catalog id that nobody else has in this file. */
export function newId(): string {
  ids += 1;
  return `catalog-${ids}`;
}

export function resource(id: string, name = id): Resource {
  return { id, descriptor: { name } };
}

export function offer(id: string): Offer {
  return { id, descriptor: { name: id } };
}
