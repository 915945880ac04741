import type { StoredExtension, Template } from '../rules/extends.ts';
import { batchesOf } from '../rules/inherited-bytes.ts';
import { schemaTypesOfOffer, schemaTypesOfResource } from '../rules/match.ts';
import type { PublishChange } from '../rules/publish.ts';
import type { ResourceUpsert } from '../rules/submission.ts';
import {
  type CatalogRow,
  insertCatalog,
  type NewCatalog,
  type SchemaUses,
  updateCatalog,
} from '../storage/catalog/catalogs.ts';
import { appendChange } from '../storage/catalog/change-log.ts';
import {
  countSchemaUses,
  type ExtensionRow,
  type ResourceRow,
  removeOthers,
  writeOffers,
  writeResources,
} from '../storage/catalog/documents.ts';
import { inheritedTable, queueRebuild } from '../storage/catalog/masters.ts';
import type { Transaction } from '../storage/database.ts';
import { changeUses, sumUses } from '../storage/inherited.ts';

// Writes the changes of a publish: documents, the catalog's row, and the change-log row that drives everything downstream. A publish that changes
// nothing gets no new version.

interface CatalogWrite {
  stored: CatalogRow | undefined;
  /** The id was released, and this publisher is the first to use it again: nothing of the former content stays. */
  isTakenOver: boolean;
  change: PublishChange;
  /** Extensions of the published resources before this publish, by resource id. */
  replaced: ReadonlyMap<string, StoredExtension>;
  publisher: string;
  submissionId: number;
  now: Date;
  traceparent?: string | null;
}

export async function writeCatalog(tx: Transaction, write: CatalogWrite): Promise<void> {
  const { stored, change, now } = write;
  const version = (stored?.version ?? 0) + 1;
  const schemaUses = await schemaUsesAfter(tx, write);
  const catalog = describe(write, version, schemaUses);
  const key = stored?.key ?? (await insertCatalog(tx, catalog));
  await writeInherited(tx, write, key);
  const documents = await writeDocuments(tx, write, key, version);
  if (stored !== undefined) {
    if (!documents.changed && !isHeadChanged(stored, catalog) && !write.isTakenOver) return;
    await updateCatalog(tx, key, {
      ...catalog,
      resourceCount: stored.resourceCount + documents.resources.inserted - documents.resourcesRemoved,
      offerCount: stored.offerCount + documents.offers.inserted - documents.offersRemoved,
    });
  }
  if (change.catalogType === 'MASTER') await queueRebuild(tx, key);
  await appendChange(tx, {
    catalogKey: key,
    version,
    publisher: write.publisher,
    submissionId: write.submissionId,
    kind: change.removesOthers ? 'published in full' : 'merged',
    at: now,
    details: JSON.stringify({
      resources: documents.resources,
      offers: documents.offers,
      removed: documents.resourcesRemoved + documents.offersRemoved,
    }),
  });
}

function describe(
  { stored, change, publisher, now, traceparent }: CatalogWrite,
  version: number,
  schemaUses: SchemaUses,
): NewCatalog {
  const { members, head, catalogType, networkIds, removesOthers, resources, offers } = change;
  return {
    id: members.id,
    owner: publisher,
    type: catalogType,
    visibleTo: networkIds,
    version,
    fullVersion: removesOthers || stored === undefined ? version : stored.fullVersion,
    members: JSON.stringify(members),
    head: JSON.stringify(head),
    isActive: head.isActive ?? true,
    resourceCount: resources.length,
    offerCount: offers.length,
    ...{ schemaUses, now, traceparent },
  };
}

async function writeInherited(tx: Transaction, write: CatalogWrite, key: number): Promise<void> {
  const { stored, change, replaced } = write;
  const isWhole = change.removesOthers && (stored?.inheritedBytes ?? 0) > 0;
  const added = change.resources.flatMap(({ template }) => template ?? []);
  const dropped = change.removesOthers
    ? []
    : change.resources.flatMap(({ id }) => replaced.get(id)?.template ?? []);
  await changeUses(tx, inheritedTable, key, sumUses(added, dropped), { isWhole });
}

async function writeDocuments(
  tx: Transaction,
  { stored, change }: CatalogWrite,
  key: number,
  version: number,
) {
  const isReplaced = stored !== undefined && change.removesOthers;
  const remove = (kind: 'resource' | 'offer', kept: readonly { id: string }[]) => {
    const ids = kept.map(({ id }) => id);
    return isReplaced ? removeOthers(tx, kind, key, ids) : 0;
  };
  const resourcesRemoved = await remove('resource', change.resources);
  const offersRemoved = await remove('offer', change.offers);
  const target = { key, version, isNew: stored === undefined, isTemplate: change.catalogType === 'MASTER' };
  const resources = { inserted: 0, updated: 0 };
  for (const batch of batchesOf(change.resources, ({ assembled }) => assembled?.length ?? 0)) {
    const { inserted, updated } = await writeResources(tx, target, batch.map(resourceRow));
    resources.inserted += inserted;
    resources.updated += updated;
  }
  const offerRows = change.offers.map((offer) => ({ id: offer.id, own: JSON.stringify(offer) }));
  const offers = await writeOffers(tx, target, offerRows);
  const written = [resources, offers].reduce((sum, { inserted, updated }) => sum + inserted + updated, 0);
  const changed = written + resourcesRemoved + offersRemoved > 0;
  return { resources, offers, resourcesRemoved, offersRemoved, changed };
}

function resourceRow({ id, own, assembled, extension, template }: ResourceUpsert): ResourceRow {
  return {
    id,
    own: JSON.stringify(own),
    assembled: assembled ?? null,
    extension: extension && template ? extensionRow(JSON.stringify(extension), template) : null,
  };
}

export function extensionRow(directive: string, template: Template): ExtensionRow {
  const { id: masterResourceId, catalogKey: masterKey, version: masterVersion, edition } = template;
  return { directive, masterKey, masterResourceId, masterVersion, edition };
}

function isHeadChanged(stored: CatalogRow, catalog: NewCatalog): boolean {
  return (
    stored.head !== catalog.head ||
    stored.members !== catalog.members ||
    stored.visibleTo.length !== catalog.visibleTo.length ||
    catalog.visibleTo.some((networkId) => !stored.visibleTo.includes(networkId))
  );
}

/** How often each schema type is used afterwards: old uses, minus replaced ones, plus new ones. */
async function schemaUsesAfter(tx: Transaction, { stored, change }: CatalogWrite): Promise<SchemaUses> {
  const coming = [
    ...change.resources.flatMap(({ types }) => schemaTypesOfResource({ resourceAttributes: types })),
    ...change.offers.flatMap(schemaTypesOfOffer),
  ];
  if (stored === undefined || change.removesOthers) return addUses({}, coming);
  const replaced = await countSchemaUses(tx, stored.key, {
    resources: change.resources.map(({ id }) => id),
    offers: change.offers.map(({ id }) => id),
  });
  return addUses(subtractUses(stored.schemaUses, replaced), coming);
}

export function addUses(uses: SchemaUses, types: readonly string[]): SchemaUses {
  const sum = new Map(Object.entries(uses));
  for (const type of types) sum.set(type, (sum.get(type) ?? 0) + 1);
  return Object.fromEntries(sum);
}

export function subtractUses(uses: SchemaUses, fewer: SchemaUses): SchemaUses {
  const less = new Map(Object.entries(fewer));
  const left = Object.entries(uses).map(([type, count]) => [type, count - (less.get(type) ?? 0)] as const);
  return Object.fromEntries(left.filter(([, count]) => count > 0));
}
