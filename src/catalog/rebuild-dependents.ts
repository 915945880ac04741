import type { Resource } from '../protocol/catalog.ts';
import { reassembleResource } from '../rules/inherit.ts';
import { schemaTypesOfResource } from '../rules/match.ts';
import { type CatalogRow, lockCatalog, updateCatalog } from '../storage/catalog/catalogs.ts';
import { appendChange } from '../storage/catalog/change-log.ts';
import { type ResourceRow, writeResources } from '../storage/catalog/documents.ts';
import {
  type DueRebuild,
  findLaggingCatalog,
  findLaggingResources,
  holdMaster,
  type LaggingResource,
  rebuildsChannel,
  rebuildTable,
} from '../storage/catalog/masters.ts';
import type { Transaction } from '../storage/database.ts';
import { type Claim, settle, startWorkLoop, type WorkLoop } from '../storage/work/due-work.ts';
import type { CatalogContext } from './context.ts';
import { addUses, subtractUses } from './write-catalog.ts';

// When a master changes, what extends it is assembled anew, some resources at a time, each batch with its catalog's next version. The
// template's values stand, also where the publisher had set others before; what was published stays stored.

/** Small, so that a publish of the same catalog never waits long. */
const resourcesAtOnce = 500;
/** One at a time and process: publishes come first. */
const rebuildsAtOnce = 1;

export function startRebuildLoop(context: CatalogContext): WorkLoop {
  return startWorkLoop<DueRebuild>({
    database: context.database,
    table: rebuildTable,
    channel: rebuildsChannel,
    concurrency: rebuildsAtOnce,
    logger: context.logger,
    handle: (claim, signal) => rebuild(context, claim, signal),
  });
}

async function rebuild(
  { database, now }: CatalogContext,
  claim: Claim<DueRebuild>,
  signal: AbortSignal,
): Promise<void> {
  const masterKey = claim.row.master_key;
  for (;;) {
    signal.throwIfAborted();
    const catalogKey = await findLaggingCatalog(database, masterKey);
    if (catalogKey === undefined) break;
    await database.transaction((tx) => rebuildBatch(tx, catalogKey, masterKey, now()));
  }
  // A new version of the master that was published meanwhile has made the rebuild due again, and it stays so.
  await settle(database, rebuildTable, claim, { dueInMs: null, set: { attempts: 0 } });
}

async function rebuildBatch(
  tx: Transaction,
  catalogKey: number,
  masterKey: number,
  now: Date,
): Promise<void> {
  const catalog = await lockCatalog(tx, catalogKey);
  const masterVersion = await holdMaster(tx, masterKey);
  if (catalog === undefined || masterVersion === undefined) return;
  const lagging = await findLaggingResources(tx, {
    catalogKey,
    masterKey,
    masterVersion,
    limit: resourcesAtOnce,
  });
  const rebuilt = lagging.map((row) => rebuildResource(row, masterKey, masterVersion));

  const version = catalog.version + 1;
  const target = { key: catalogKey, version, isTemplate: false };
  const { updated } = await writeResources(
    tx,
    target,
    rebuilt.map(({ row }) => row),
  );
  if (updated === 0) return;
  await updateCatalog(tx, catalogKey, {
    ...catalog,
    version,
    schemaUses: schemaUsesAfter(catalog, rebuilt),
    now,
  });
  await appendChange(tx, {
    catalogKey,
    version,
    publisher: catalog.owner ?? '',
    kind: 'reassembled',
    at: now,
    details: JSON.stringify({ resources: { inserted: 0, updated }, masterVersion }),
  });
}

interface Rebuilt {
  row: ResourceRow;
  before: Resource;
  after: Resource;
}

function rebuildResource(lagging: LaggingResource, masterKey: number, masterVersion: number): Rebuilt {
  const { id, own, directive, masterResourceId } = lagging;
  const before: Resource = JSON.parse(lagging.assembled);
  const template: Resource | undefined = lagging.template === null ? undefined : JSON.parse(lagging.template);
  const after = reassembleResource({ own: JSON.parse(own), assembled: before }, template);
  const row = {
    id,
    own,
    assembled: template === undefined ? lagging.assembled : JSON.stringify(after),
    extension: {
      directive,
      masterKey,
      masterResourceId,
      masterVersion,
      inherited: lagging.template ?? lagging.inherited,
    },
  };
  return { row, before, after };
}

function schemaUsesAfter({ schemaUses }: CatalogRow, rebuilt: readonly Rebuilt[]) {
  const gone = addUses(
    {},
    rebuilt.flatMap(({ before }) => schemaTypesOfResource(before)),
  );
  return addUses(
    subtractUses(schemaUses, gone),
    rebuilt.flatMap(({ after }) => schemaTypesOfResource(after)),
  );
}
