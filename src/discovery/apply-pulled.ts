import type { CatalogType, ReceivedCatalog } from '../protocol/catalog.ts';
import { type AppliedCatalog, type IncomingCatalog, type IndexWriter, writeIndex } from '../search/port.ts';
import type { Transaction } from '../storage/database.ts';
import {
  catalogsAtOnce,
  findUnnoted,
  forgetItems,
  type HeldCopy,
  lockCopies,
  noteItems,
  noteListed,
} from '../storage/feeds/copies.ts';
import { applyCopies, ownerOf, sourceOf } from './apply-copies.ts';
import type { DiscoveryContext } from './context.ts';
import type { CatalogPart, PulledPart } from './pulled-parts.ts';

// Applies one page of a pull. It compares held copies with the pulled ones, and writes only differences: so the regular pull of
// everything finds drift, and repairs it. A catalog that was pushed after the pull was sent is skipped, because the push is newer.

/** Small catalogs are applied together. */
const maxGroupDocuments = 1_000;
/** While the database writes one group, the next one is prepared. */
const groupsAtOnce = 2;
/** Log interval for progress: a page may hold a million resources. */
const progressEveryMs = 10_000;
const removalsAtOnce = 500;

export interface PulledPage {
  feedId: number;
  run: string;
  service: string;
  /** '' if the feed is for every network: then the networks of its catalogs are unknown. */
  networkId: string;
  sentAt: Date;
  typeOf(catalogId: string): CatalogType;
}

export interface PageOutcome {
  catalogs: number;
  written: number;
  removed: number;
  /** Catalogs that could not be compared because a partial push of them arrived meanwhile. */
  skipped: number;
}

export async function applyPulled(
  context: DiscoveryContext,
  page: PulledPage,
  parts: AsyncIterable<PulledPart>,
  signal: AbortSignal,
): Promise<PageOutcome> {
  const outcome: PageOutcome = { catalogs: 0, written: 0, removed: 0, skipped: 0 };
  const pulling = { ...context, page, outcome };
  const { logger, now } = context;
  let loggedAt = now().getTime();
  const group = new Map<string, ReceivedCatalog>();
  let documents = 0;
  const underWay = new Map<Promise<void>, ReadonlySet<string>>();

  async function applyGroup(): Promise<void> {
    if (group.size === 0) return;
    const catalogs = [...group.values()];
    const ids = new Set(group.keys());
    group.clear();
    documents = 0;
    if (underWay.size >= groupsAtOnce) await Promise.race(underWay.keys());
    const applied = applyWhole(pulling, catalogs).then(() => {
      underWay.delete(applied);
    });
    applied.catch(() => undefined); // a failed one stays in `underWay`, and is awaited there
    underWay.set(applied, ids);
  }

  /** If a page has two copies, the later one counts, so the first is written before the second starts. */
  async function finishEarlier(id: string): Promise<void> {
    if (group.has(id)) await applyGroup();
    if ([...underWay.values()].some((ids) => ids.has(id))) await Promise.all(underWay.keys());
  }

  try {
    for await (const part of parts) {
      signal.throwIfAborted();
      if (now().getTime() - loggedAt >= progressEveryMs) {
        loggedAt = now().getTime();
        logger.info({ service: page.service, networkId: page.networkId, ...outcome }, 'pulling');
      }
      if ('invalidId' in part) {
        await noteInvalid(pulling, part.invalidId);
        continue;
      }
      const { catalog, first, last } = part;
      if (first) outcome.catalogs += 1;
      await finishEarlier(catalog.id);
      if (!first || !last) {
        await applyGroup();
        await applyPart(pulling, { catalog, first, last });
        continue;
      }
      group.set(catalog.id, catalog);
      documents += (catalog.resources?.length ?? 0) + (catalog.offers?.length ?? 0);
      if (documents >= maxGroupDocuments || group.size >= catalogsAtOnce) await applyGroup();
    }
    await applyGroup();
    await Promise.all(underWay.keys());
  } finally {
    await Promise.allSettled(underWay.keys());
  }
  return outcome;
}

type Pulling = DiscoveryContext & { page: PulledPage; outcome: PageOutcome };

function applyWhole(pulling: Pulling, catalogs: readonly ReceivedCatalog[]): Promise<void> {
  return inTransaction(pulling, catalogs, (tx, writer, incoming, held) => {
    const whole = incoming.map((one) => ({ ...one, mode: 'FULL' as const }));
    return applyCopies({ tx, writer, logger: pulling.logger }, whole, held);
  });
}

/** The catalog is still listed, so it is not gone; its held content stays. */
async function noteInvalid({ database, page }: Pulling, id: string): Promise<void> {
  const { feedId, run, service } = page;
  await database.transaction(async (tx) => {
    const copy = (await lockCopies(tx, sourceOf(service), [id])).get(id);
    if (copy) await noteListed(tx, { id: feedId, run }, [copy.key]);
  });
}

/** A part of a catalog that is too large for one transaction: pushes and queries do not wait for the whole catalog. */
async function applyPart(pulling: Pulling, { catalog, first, last }: CatalogPart): Promise<void> {
  const { feedId } = pulling.page;
  return inTransaction(pulling, [catalog], async (tx, writer, incoming, held) => {
    const parts = incoming.map((one) => ({ ...one, mode: 'MERGE' as const, replacesMembers: true }));
    const applied = await applyCopies({ tx, writer, logger: pulling.logger }, parts, held);
    const [part] = parts;
    const [{ key } = { key: undefined }] = applied;
    if (part === undefined || key === undefined) return applied;
    if (first) await forgetItems(tx, feedId);
    await noteItems(tx, feedId, 'resource', catalog.resources?.map(({ id }) => id) ?? []);
    await noteItems(tx, feedId, 'offer', catalog.offers?.map(({ id }) => id) ?? []);
    return last ? [...applied, ...(await removeOthers(tx, writer, feedId, part, key))] : applied;
  });
}

async function removeOthers(
  tx: Transaction,
  writer: IndexWriter,
  feedId: number,
  part: IncomingCatalog,
  key: number,
): Promise<AppliedCatalog[]> {
  const { resources: _resources, offers: _offers, ...members } = part.catalog;
  const removed: AppliedCatalog[] = [];
  for (;;) {
    const resources = await findUnnoted(tx, feedId, 'resource', key, removalsAtOnce);
    const offers = await findUnnoted(tx, feedId, 'offer', key, removalsAtOnce);
    if (resources.length + offers.length === 0) break;
    const removals = { resources, offers };
    removed.push(...(await writer.apply([{ ...part, catalog: members, removals }])));
  }
  await forgetItems(tx, feedId);
  return removed;
}

/** Passes on the applicable catalogs, and records that the feed listed all of them. */
async function inTransaction(
  { database, config, now, page, outcome }: Pulling,
  catalogs: readonly ReceivedCatalog[],
  apply: (
    tx: Transaction,
    writer: IndexWriter,
    incoming: Omit<IncomingCatalog, 'mode'>[],
    held: ReadonlyMap<string, HeldCopy>,
  ) => Promise<AppliedCatalog[]>,
): Promise<void> {
  const { feedId, run, service, sentAt } = page;
  const source = sourceOf(service);
  const applyIn = async (tx: Transaction, writer: IndexWriter) => {
    const ids = catalogs.map(({ id }) => id);
    const held = await lockCopies(tx, source, ids);
    const newer = catalogs.flatMap(({ id }) => {
      const copy = held.get(id);
      return copy?.push_arrived_at && copy.push_arrived_at >= sentAt ? [copy] : [];
    });
    const older = catalogs.filter(({ id }) => !newer.some((copy) => copy.id === id));
    const incoming = older.map((catalog) => ({
      source,
      owner: ownerOf(catalog, service, config.REGISTRY_NAME),
      type: page.typeOf(catalog.id),
      networks: networksOf(page, held.get(catalog.id)),
      catalog,
      pulledAt: sentAt,
    }));
    const applied = await apply(tx, writer, incoming, held);
    await noteListed(tx, { id: feedId, run }, [...new Set([...applied, ...newer].map(({ key }) => key))]);
    return { applied, newer };
  };
  const { applied, newer } = await database.transaction((tx) =>
    writeIndex(tx, now(), (writer) => applyIn(tx, writer)),
  );
  for (const { written, removed } of applied) {
    outcome.written += written;
    outcome.removed += removed;
  }
  outcome.skipped += newer.filter((copy) => copy.push_merged).length;
}

/** A pull shows that the catalog is in the network of its feed, but nothing about other networks. */
function networksOf({ networkId }: PulledPage, held: HeldCopy | undefined): string[] | null {
  if (held?.networks === null) return null;
  const known = held?.networks ?? [];
  return networkId === '' || known.includes(networkId) ? known : [...known, networkId];
}
