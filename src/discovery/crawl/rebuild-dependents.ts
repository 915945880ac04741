import type { ReceivedCatalog, Resource } from '../../protocol/catalog.ts';
import { type Extension, networksMeet } from '../../rules/extends.ts';
import { type ExtendedResource, extendTemplate } from '../../rules/self-hosted/extend.ts';
import { type IndexWriter, writeIndex } from '../../search/port.ts';
import { writeLog } from '../../storage/crawl/log.ts';
import {
  type Dependent,
  type DueRebuild,
  findLaggingCatalog,
  findLaggingResources,
  findMaster,
  holdMaster,
  type LaggingResource,
  noteRebuilt,
  rebuildsChannel,
  rebuildTable,
} from '../../storage/crawl/rebuilds.ts';
import type { Transaction } from '../../storage/database.ts';
import { lockPrecedence, settlePrecedence } from '../../storage/feeds/precedence.ts';
import { type Claim, settle, startWorkLoop, type WorkLoop } from '../../storage/work/due-work.ts';
import { nodeSource } from './applied-entry.ts';
import { overriddenFault } from './assemble.ts';
import type { CrawlContext } from './context.ts';
import { lineOf } from './tell.ts';

// When a crawled master moves, what extends it is assembled anew, some resources at a time. The template's values stand, also where the
// publisher had set others before; what the master dropped, its dependents keep as they inherited it last.

/** Small, so that the crawl of the same catalog never waits long. */
const resourcesAtOnce = 500;
const rebuildsAtOnce = 1;

export function startRebuilds(context: CrawlContext): WorkLoop {
  return startWorkLoop<DueRebuild>({
    database: context.database,
    table: rebuildTable,
    channel: rebuildsChannel,
    concurrency: rebuildsAtOnce,
    logger: context.logger,
    handle: (claim, signal) => rebuild(context, claim, signal),
  });
}

async function rebuild(context: CrawlContext, claim: Claim<DueRebuild>, signal: AbortSignal): Promise<void> {
  const { database } = context;
  const masterKey = claim.row.master_key;
  for (;;) {
    signal.throwIfAborted();
    const master = await findMaster(database, masterKey);
    const dependent = master && (await findLaggingCatalog(database, masterKey, master.version));
    if (dependent === undefined) break;
    await database.transaction((tx) =>
      writeIndex(tx, context.now(), (writer) => rebuildBatch(tx, writer, context, dependent, masterKey)),
    );
  }
  // A version that came meanwhile has made the rebuild due again, and it stays so.
  await settle(database, rebuildTable, claim, { dueInMs: null, set: { attempts: 0 } });
}

async function rebuildBatch(
  tx: Transaction,
  writer: IndexWriter,
  context: CrawlContext,
  { targetId, node: owner, catalogId: id }: Dependent,
  masterKey: number,
): Promise<void> {
  const now = context.now();
  await lockPrecedence(tx, [{ owner, id }]);
  const master = await holdMaster(tx, masterKey);
  const [catalog] = await writer.hold([{ source: nodeSource, owner, id }]);
  if (master === undefined || !catalog?.known) return;
  const { type, networks } = catalog;
  const lagging = await findLaggingResources(tx, targetId, {
    ...{ masterKey, masterVersion: master.version, limit: resourcesAtOnce },
  });
  const templates = networksMeet(master.networks, networks)
    ? lagging
    : lagging.map((row) => ({ ...row, template: null }));
  const extended = templates.flatMap((row) => extendAnew(row, masterKey, master.version));
  const changed = { id, resources: extended.map(({ assembled }) => assembled) } as ReceivedCatalog;
  await writer.apply([{ source: nodeSource, owner, type, networks, catalog: changed, mode: 'MERGE' }]);
  await noteRebuilt(tx, targetId, templates, master.version);
  await settlePrecedence(tx, [{ owner, id }]);
  const lines = overriddenFault(id, extended).map((fault) =>
    lineOf(context, { node: owner, catalogId: id }, fault),
  );
  await writeLog(tx, lines, now);
}

function extendAnew(
  { id, own, directive, template }: LaggingResource,
  catalogKey: number,
  version: number,
): ExtendedResource[] {
  if (template === null) return [];
  const resource: Resource = JSON.parse(template);
  const extension: Extension = JSON.parse(directive);
  return [
    extendTemplate(JSON.parse(own), { resourceId: id, ...extension }, { catalogKey, version, resource }),
  ];
}
