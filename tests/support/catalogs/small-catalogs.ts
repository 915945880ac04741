import { expect } from 'vitest';
import type { Catalog, Offer, Resource } from '../../../src/protocol/catalog.ts';
import type { Actor } from '../network/actor.ts';
import { type Directive, publish } from '../network/publish.ts';

export type PartialCatalog = Partial<Catalog> & { id: string };

/** Publishes one catalog, with defaults for missing members, and waits until it is ACCEPTED. */
export async function publishCatalog(
  provider: Actor,
  catalog: PartialCatalog,
  directive: Directive = {},
): Promise<void> {
  const result = await publish(
    provider,
    {
      descriptor: { name: `Catalog ${catalog.id}` },
      provider: { id: 'p1', descriptor: { name: 'Provider' } },
      ...catalog,
    },
    directive,
  );
  expect(result).toMatchObject({ status: 'ACCEPTED' });
}

let ids = 0;

/** A catalog id that is unique in this file. */
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
