import { createBreaks } from '../breaks.ts';
import { contentOf, type Template } from '../rules/extends.ts';
import { inherit } from '../rules/inherit.ts';
import {
  batchesOf,
  createInheritanceBudget,
  type InheritanceLimits,
  inheritanceLimitsOf,
  withoutPublish,
} from '../rules/inherited-bytes.ts';
import { schemaTypesOfResource } from '../rules/match.ts';
import { type CatalogRow, lockCatalog, updateCatalog } from '../storage/catalog/catalogs.ts';
import { appendChange } from '../storage/catalog/change-log.ts';
import { countSchemaUses, type ResourceRow, writeResources } from '../storage/catalog/documents.ts';
import {
  findLaggingCatalog,
  findLaggingResources,
  holdMaster,
  inheritedTable,
  type LaggingResource,
  noteInLine,
  rebuildTable,
  sumInherited,
} from '../storage/catalog/masters.ts';
import type { Transaction } from '../storage/database.ts';
import { changeUses, readDependents, readTemplates, sumUses } from '../storage/inherited.ts';
import type { WorkLoop } from '../storage/work/due-work.ts';
import { startRebuildLoop } from '../storage/work/rebuild-loop.ts';
import type { CatalogContext } from './context.ts';
import { addUses, extensionRow, subtractUses } from './write-catalog.ts';

// When a master changes, the resources that extend it are assembled again, in batches, each with its catalog's next version. The template's values
// win, even over earlier values of the publisher; the published values stay stored. A resource whose template is gone or too large to inherit keeps
// the values that it inherited last.

/** Small, so that a publish of the same catalog never waits long. */
const resourcesAtOnce = 500;

export function startRebuilds({ config, database, logger, now }: CatalogContext): WorkLoop {
  return startRebuildLoop({ database, table: rebuildTable, logger }, async (masterKey) => {
    const catalogKey = await findLaggingCatalog(database, masterKey);
    if (catalogKey === undefined) return false;
    await database.transaction((tx) => rebuildBatch(tx, config, catalogKey, masterKey, now()));
    return true;
  });
}

async function rebuildBatch(
  tx: Transaction,
  config: CatalogContext['config'],
  catalogKey: number,
  masterKey: number,
  now: Date,
): Promise<void> {
  const catalog = await lockCatalog(tx, catalogKey);
  const masterVersion = await holdMaster(tx, masterKey);
  if (catalog === undefined || masterVersion === undefined) return;
  const wanted = { catalogKey, masterKey, masterVersion, limit: resourcesAtOnce };
  const lagging = await findLaggingResources(tx, wanted);
  const limits = withoutPublish(inheritanceLimitsOf(config));
  const [batch = []] = batchesOf(lagging, (row) => bytesToAssemble(row, limits));
  const budget = createInheritanceBudget(limits, {
    catalog: catalog.inheritedBytes,
    publish: 0,
    publisher: await sumInherited(tx, catalog.owner ?? ''),
  });
  const [moving, staying]: [LaggingResource[], string[]] = [[], []];
  for (const row of batch) {
    const bytes = bytesToAssemble(row, limits);
    if (bytes > 0 && budget.take(bytes, row.bytes) === undefined) moving.push(row);
    else staying.push(row.id);
  }
  await noteInLine(tx, catalogKey, staying, masterVersion);
  await assembleAgain(tx, catalog, moving, { masterKey, masterVersion, now });
}

/** None if the template is gone, unchanged, or too large for any resource. */
function bytesToAssemble(
  { edition, nextEdition, nextBytes }: LaggingResource,
  { resource: limit }: InheritanceLimits,
): number {
  const isChanged = nextEdition !== null && nextEdition !== edition;
  return isChanged && nextBytes !== null && nextBytes <= limit ? nextBytes : 0;
}

interface Move {
  masterKey: number;
  masterVersion: number;
  now: Date;
}

async function assembleAgain(
  tx: Transaction,
  catalog: CatalogRow,
  moving: readonly LaggingResource[],
  { masterKey: catalogKey, masterVersion: version, now }: Move,
): Promise<void> {
  if (moving.length === 0) return;
  const ids = moving.map(({ id }) => id);
  const former: Template[] = [];
  const templates = new Map<string, Template>();
  for (const { id, masterResourceId, edition, bytes, nextEdition, nextBytes } of moving) {
    const master = { id: masterResourceId, catalogKey, version };
    former.push({ ...master, edition, bytes });
    templates.set(id, { ...master, edition: nextEdition ?? 0, bytes: nextBytes ?? 0 });
  }
  const contents = await readTemplates(tx, inheritedTable, catalog.key, [...templates.values()]);
  const gone = await countSchemaUses(tx, catalog.key, { resources: ids, offers: [] });
  const types: string[] = [];
  const rows: ResourceRow[] = [];
  const takeBreak = createBreaks();
  for (const { id, own, directive } of await readDependents(tx, inheritedTable, catalog.key, ids)) {
    const template = templates.get(id);
    if (template === undefined) continue;
    const { assembled } = inherit(JSON.parse(own), contentOf(template, contents));
    types.push(...schemaTypesOfResource(assembled));
    const extension = extensionRow(directive, template);
    rows.push({ id, own, assembled: JSON.stringify(assembled), extension });
    await takeBreak();
  }
  const uses = sumUses([...templates.values()], former);
  await changeUses(tx, inheritedTable, catalog.key, uses, { isWhole: false });
  const target = { key: catalog.key, version: catalog.version + 1, isTemplate: false };
  const { updated } = await writeResources(tx, target, rows);
  if (updated === 0) return;
  const schemaUses = addUses(subtractUses(catalog.schemaUses, gone), types);
  await updateCatalog(tx, catalog.key, { ...catalog, version: target.version, schemaUses, now });
  await appendChange(tx, {
    catalogKey: catalog.key,
    version: target.version,
    publisher: catalog.owner ?? '',
    kind: 'reassembled',
    at: now,
    details: JSON.stringify({ resources: { inserted: 0, updated }, masterVersion: version }),
  });
}
