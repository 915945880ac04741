import { identityOf } from '../protocol/identity.ts';
import { type AppliedCatalog, applyCatalogs } from '../search/write/apply-catalogs.ts';
import { removeCatalogs } from '../search/write/remove-catalogs.ts';
import type { IncomingCatalog } from '../search/write/target.ts';
import type { Transaction } from '../storage/database.ts';
import { type HeldCopy, lockPrecedence, settlePrecedence } from '../storage/feeds/copies.ts';

/** Under which the index knows what a catalog service brings. */
export function sourceOf(service: string): string {
  return `service:${service}`;
}

/** Who published a catalog: the node that it names, otherwise the service that vouches for it. */
export function ownerOf({ bppId }: { bppId?: string }, service: string, registryName: string): string {
  return bppId === undefined ? service : identityOf(bppId, registryName);
}

/**
 * Applies what a catalog service sent, and settles whose copy counts. An id has one owner at a service: where a released id has got
 * another one, the old owner's catalog goes.
 */
export async function applyCopies(
  tx: Transaction,
  incoming: readonly IncomingCatalog[],
  held: ReadonlyMap<string, HeldCopy>,
  now: Date,
): Promise<AppliedCatalog[]> {
  const replaced = incoming.flatMap(({ owner, catalog: { id } }) => {
    const copy = held.get(id);
    return copy && copy.owner !== owner ? [copy] : [];
  });
  const coming = incoming.map(({ owner, catalog: { id } }) => ({ owner, id }));
  await lockPrecedence(tx, [...replaced, ...coming]);
  await removeCatalogs(tx, replaced, now);
  const applied = await applyCatalogs(tx, incoming, now);
  await settlePrecedence(tx, applied);
  return applied;
}
