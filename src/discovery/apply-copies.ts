import type { Logger } from '../logger.ts';
import { identityOf } from '../protocol/identity.ts';
import { type AppliedCatalog, type IncomingCatalog, type IndexWriter, writeIndex } from '../search/port.ts';
import { announceMaster } from '../storage/crawl/masters.ts';
import type { Transaction } from '../storage/database.ts';
import { type CatalogRef, type ExpectedCopy, type HeldCopy, inParts } from '../storage/feeds/copies.ts';
import { lockPrecedence, settlePrecedence } from '../storage/feeds/precedence.ts';
import type { DiscoveryContext } from './context.ts';

/** The index's source name for catalogs from a catalog service. */
export function sourceOf(service: string): string {
  return `service:${service}`;
}

/** The publisher of a catalog: the node that it names, otherwise the service that vouches for it. */
export function ownerOf({ bppId }: { bppId?: string }, service: string, registryName: string): string {
  return bppId === undefined ? service : identityOf(bppId, registryName);
}

/** Applies the catalogs of a catalog service, and decides whose copy counts. If a released id has a new owner, the old owner's catalog is removed. */
export async function applyCopies(
  { tx, writer, logger }: { tx: Transaction; writer: IndexWriter; logger: Logger },
  incoming: readonly IncomingCatalog[],
  held: ReadonlyMap<string, HeldCopy>,
): Promise<AppliedCatalog[]> {
  const replaced = incoming.flatMap(({ owner, catalog: { id } }) => {
    const copy = held.get(id);
    return copy && copy.owner !== owner ? [copy] : [];
  });
  const coming = incoming.map(({ owner, catalog: { id } }) => ({ owner, id }));
  await lockPrecedence(tx, [...replaced, ...coming]);
  await removeCopies(tx, writer, replaced);
  const applied = await writer.apply(incoming);
  await settlePrecedence(tx, applied);
  for (const one of applied) logUnindexed(logger, one);
  await announceMasters(tx, applied, incoming);
  return applied;
}

/** Crawled catalogs may extend them (self-hosted spec: Entry, dependencies.masters). */
async function announceMasters(
  tx: Transaction,
  applied: readonly AppliedCatalog[],
  incoming: readonly IncomingCatalog[],
): Promise<void> {
  const masters = new Map(
    incoming.filter(({ type }) => type === 'MASTER').map(({ catalog }) => [catalog.id, catalog]),
  );
  for (const { key, id, written, removed } of applied) {
    const master = masters.get(id);
    if (master === undefined) continue;
    const names = [id, ...(master.resources ?? []).map((one) => one.id)];
    await announceMaster(tx, { key, names, isChanged: written + removed > 0 });
  }
}

/** Another catalog service may accept geometries that are too expensive to search. Their resources and offers are found by everything else. */
function logUnindexed(logger: Logger, { source, owner, id, unindexed }: AppliedCatalog): void {
  if (unindexed.length === 0) return;
  const geometries = unindexed.slice(0, maxLogged);
  logger.warn(
    { source, owner, catalogId: id, count: unindexed.length, geometries },
    'geometries are not indexed: they have more than 50,000 vertices, or a ring that crosses itself more than 100 times',
  );
}

const maxLogged = 20;

/** Removes copies from a network, some per transaction. Catalogs that `leave` returns are in no network any more, and leave the index. */
export async function leaveInParts(
  { database, now }: DiscoveryContext,
  copies: readonly ExpectedCopy[],
  leave: (tx: Transaction, part: readonly ExpectedCopy[]) => Promise<CatalogRef[]>,
  signal: AbortSignal,
): Promise<void> {
  for (const part of inParts(copies)) {
    signal.throwIfAborted();
    await database.transaction((tx) =>
      writeIndex(tx, now(), async (writer) => removeCopies(tx, writer, await leave(tx, part))),
    );
  }
}

/** Removes catalogs from the index; if another source has a copy, that one counts from now on. */
async function removeCopies(tx: Transaction, writer: IndexWriter, refs: readonly CatalogRef[]) {
  if (refs.length === 0) return;
  await lockPrecedence(tx, refs);
  await writer.remove(refs);
  await settlePrecedence(tx, refs);
}
