import { createBreaks } from '../../breaks.ts';
import type { ReceivedCatalog } from '../../protocol/catalog.ts';
import { contentOf, networksMeet, type Template } from '../../rules/extends.ts';
import { batchesOf, createInheritanceBudget, TooMuchHere } from '../../rules/inherited-bytes.ts';
import { type ExtendedResource, extendTemplate } from '../../rules/self-hosted/extend.ts';
import { inheritedTable, sumInherited } from '../../storage/crawl/extensions.ts';
import { writeLog } from '../../storage/crawl/log.ts';
import {
  adoptDependent,
  type Dependent,
  findLaggingCatalog,
  findLaggingResources,
  findLostDependent,
  findMaster,
  findTemplates,
  holdMaster,
  noteRebuilt,
  rebuildTable,
} from '../../storage/crawl/rebuilds.ts';
import type { Transaction } from '../../storage/database.ts';
import { lockPrecedence, settlePrecedence } from '../../storage/feeds/precedence.ts';
import { changeUses, readDependents, readTemplates, sumUses } from '../../storage/inherited.ts';
import type { WorkLoop } from '../../storage/work/due-work.ts';
import { startRebuildLoop } from '../../storage/work/rebuild-loop.ts';
import { nodeSource } from './applied-entry.ts';
import { type ApplyingContext, inWriting, type Writing } from './apply-content.ts';
import { applyingOf } from './apply-entry.ts';
import { overriddenFault, overridingOf, sumBytes } from './assemble.ts';
import type { CrawlContext } from './context.ts';

// The template's values win, even if the publisher had set others. If a master drops something, its dependents keep their last inherited values.

/** Assembles dependents of a changed crawled master again, some resources at a time, in a thread if it is much work. */
export function startRebuilds(
  context: CrawlContext,
  aside: { rebuild(dependent: Dependent, masterKey: number): Promise<void> },
): WorkLoop {
  const { database, logger } = context;
  const applying = applyingOf(context);
  const where = { database, table: rebuildTable, logger };
  return startRebuildLoop(where, async (masterKey) => {
    const lost = await findLostDependent(database, masterKey);
    if (lost) {
      await database.transaction(async (tx) => {
        await lockPrecedence(tx, [{ owner: lost.node, id: lost.catalogId }]);
        await adoptDependent(tx, lost, masterKey);
      });
      return true;
    }
    const master = await findMaster(database, masterKey);
    const dependent = master && (await findLaggingCatalog(database, masterKey, master.version));
    if (dependent === undefined) return false;
    await rebuildBatch(applying, dependent, masterKey).catch((error) => {
      if (!(error instanceof TooMuchHere)) throw error;
      return aside.rebuild(dependent, masterKey);
    });
    return true;
  });
}

/** Small, so that the crawl of the same catalog never waits long. */
const resourcesAtOnce = 500;

/** Assembles some resources of a catalog with the current templates. Throws TooMuchHere if they are much work. */
export function rebuildBatch(context: ApplyingContext, dependent: Dependent, masterKey: number) {
  return inWriting(context, (writing) => rebuildSome(writing, dependent, masterKey));
}

async function rebuildSome(
  { tx, writer, limits, maxInherited, tell, now }: Writing,
  { targetId, node: owner, catalogId: id }: Dependent,
  masterKey: number,
): Promise<void> {
  await lockPrecedence(tx, [{ owner, id }]);
  const master = await holdMaster(tx, masterKey);
  const [catalog] = await writer.hold([{ source: nodeSource, owner, id }]);
  if (master === undefined || !catalog?.known) return;
  const { type, networks } = catalog;
  const { version } = master;
  const behind = { masterKey, masterVersion: version, limit: resourcesAtOnce };
  const lagging = await findLaggingResources(tx, targetId, behind);
  const ids = [...new Set(lagging.map(({ masterResourceId }) => masterResourceId))];
  const templates = networksMeet(master.networks, networks)
    ? await findTemplates(tx, { masterKey, masterVersion: version, ids })
    : new Map<string, Template>();
  /** Undefined for a template that is gone, unchanged, or too large for any resource: then nothing is assembled again. */
  const templateOf = ({ masterResourceId, edition }: (typeof lagging)[number]) => {
    const template = templates.get(masterResourceId);
    const isMoving = template && template.edition !== edition && template.bytes <= limits.resource;
    return isMoving ? template : undefined;
  };
  const [batch = []] = batchesOf(lagging, (row) => templateOf(row)?.bytes ?? 0);
  const sums = await sumInherited(tx, targetId);
  const budget = createInheritanceBudget(limits, { ...sums, publish: 0 });
  const moving = new Map<string, Template>();
  const former: Template[] = [];
  for (const row of batch) {
    const template = templateOf(row);
    // Without a template, or beyond the limit of inherited bytes, the resource keeps its last inherited values.
    if (!template || budget.take(template.bytes, row.bytes)) continue;
    moving.set(row.id, template);
    former.push({ ...template, edition: row.edition });
  }
  if (sumBytes([...moving.values()]) > maxInherited) throw new TooMuchHere();
  const extended = await assembleAgain(tx, targetId, moving);
  const changed = { id, resources: extended.map(({ assembled }) => assembled) } as ReceivedCatalog;
  if (extended.length > 0)
    await writer.apply([{ source: nodeSource, owner, type, networks, catalog: changed, mode: 'MERGE' }]);
  await changeUses(tx, inheritedTable, targetId, sumUses([...moving.values()], former), { isWhole: false });
  const rebuilt = batch.map((row) => ({ id: row.id, edition: moving.get(row.id)?.edition }));
  await noteRebuilt(tx, targetId, rebuilt, version);
  await settlePrecedence(tx, [{ owner, id }]);
  const lines = overriddenFault(id, overridingOf(extended)).map((fault) =>
    tell({ node: owner, catalogId: id }, fault),
  );
  await writeLog(tx, lines, now());
}

async function assembleAgain(tx: Transaction, targetId: number, moving: ReadonlyMap<string, Template>) {
  const contents = await readTemplates(tx, inheritedTable, targetId, [...moving.values()]);
  const extended: ExtendedResource[] = [];
  const takeBreak = createBreaks();
  const dependents = await readDependents(tx, inheritedTable, targetId, [...moving.keys()]);
  for (const { id, own, directive } of dependents) {
    const template = moving.get(id);
    if (template === undefined) continue;
    const extending = { own: JSON.parse(own), extension: JSON.parse(directive), template };
    extended.push(extendTemplate(extending, contentOf(template, contents)));
    await takeBreak();
  }
  return extended;
}
