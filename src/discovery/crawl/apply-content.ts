import type { Check } from '../../rules/check-attributes.ts';
import { bytesAtOnce, type InheritanceLimits, TooMuchHere } from '../../rules/inherited-bytes.ts';
import type { Extender } from '../../rules/self-hosted/extend.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { type IncomingCatalog, type IndexWriter, writeIndex } from '../../search/port.ts';
import { hostTable, keepLeases } from '../../storage/crawl/hosts.ts';
import { type LogLine, writeLog } from '../../storage/crawl/log.ts';
import { announceMaster } from '../../storage/crawl/masters.ts';
import { countOtherResources, lockTargets, recordApplied } from '../../storage/crawl/targets.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { lockPrecedence, settlePrecedence } from '../../storage/feeds/precedence.ts';
import { LeaseLost } from '../../storage/work/due-work.ts';
import { cursorOf, incomingOf, laterOf } from './applied-entry.ts';
import {
  type Applicable,
  assembleBatches,
  findTemplates,
  type Inheriting,
  type Overriding,
  overriddenFault,
  overridingOf,
  recordExtensions,
  sumBytes,
  withAssembled,
} from './assemble.ts';
import type { EntryWork } from './entry-work.ts';
import { CrawlFault, type ReadingFault } from './reasons.ts';
import { nextAttemptMs } from './schedule.ts';
import type { About } from './tell.ts';

// Writes readings to the index. Content and cursor change in one transaction: the index never has part of a file, and nothing is applied twice.

/** Its context, in the process or in a thread (apply-aside.ts). */
export interface ApplyingContext {
  database: Database;
  now(): Date;
  checker(): Check;
  limits: InheritanceLimits;
  maxResources: number;
  /** If a catalog inherits more bytes, or several together exceed one assembly, it throws TooMuchHere. */
  maxInherited: number;
  tell(about: About, fault: ReadingFault): LogLine;
}

export interface ReadCatalog {
  work: Pick<EntryWork, 'lease' | 'row'>;
  trusted: TrustedEntry;
  reading: Applicable;
  /** The owners of the MASTER catalogs in its entry. */
  declared: Extender['declared'];
}

/** The missing master resources, if any: then nothing was applied. */
export type Applied = { missing: string[] } | { error: LeaseLost };

/** Applies all or none. */
export function applyContent(context: ApplyingContext, reads: readonly ReadCatalog[]): Promise<Applied[]> {
  return inWriting(context, (writing) => applyTogether(writing, reads));
}

export interface Writing extends ApplyingContext {
  tx: Transaction;
  writer: IndexWriter;
}

export function inWriting<T>(context: ApplyingContext, work: (writing: Writing) => Promise<T>): Promise<T> {
  return context.database.transaction((tx) =>
    writeIndex(tx, context.now(), (writer) => work({ ...context, tx, writer })),
  );
}

async function applyTogether(writing: Writing, reads: readonly ReadCatalog[]): Promise<Applied[]> {
  const { tx, limits, maxInherited } = writing;
  const leases = reads.map(({ work }) => work.lease);
  const held = await keepLeases(tx, leases);
  const refs = reads.map(({ work }) => refOf(work));
  await lockPrecedence(tx, refs);
  const outcomes: Applied[] = [];
  const ready: Ready[] = [];
  const grown = new Map<number, number>();
  for (const read of reads) {
    const { lease, row } = read.work;
    if (!held.has(lease.id)) {
      outcomes.push({ error: new LeaseLost(hostTable, lease.id) });
      continue;
    }
    const before = grown.get(row.node_id) ?? 0;
    const { networkIds = [] } = read.trusted.entry;
    const extender: Extender = { node: row.node, networkIds, declared: read.declared };
    const assembly = await findTemplates(tx, row, read.reading, { extender, limits, grown: before });
    outcomes.push({ missing: assembly.kind === 'waiting' ? assembly.missing : [] });
    if (assembly.kind === 'waiting') continue;
    grown.set(row.node_id, before + assembly.growth);
    ready.push({ ...read, inheriting: assembly });
  }
  const sizes = ready.map(({ inheriting }) => sumBytes(inheriting.extending.map(({ template }) => template)));
  const together = sizes.length > 1 ? bytesAtOnce : Number.POSITIVE_INFINITY;
  const isTooMuch = sizes.some((bytes) => bytes > maxInherited);
  if (isTooMuch || sizes.reduce((sum, bytes) => sum + bytes, 0) > together) throw new TooMuchHere();
  if (ready.length > 0) await write(writing, ready);
  return outcomes;
}

type Ready = ReadCatalog & { inheriting: Inheriting };

async function write(writing: Writing, ready: readonly Ready[]): Promise<void> {
  const { tx, writer, maxResources, tell } = writing;
  const now = writing.now();
  const { applied, overriding } = await writeContent(writing, ready);
  const rows = ready.map(({ work }) => work.row);
  const others = await countOtherResources(tx, rows);
  const ids = rows.map(({ id }) => id);
  await lockTargets(tx, ids);
  for (const { work, reading, inheriting } of ready)
    await recordExtensions(tx, work.row, reading, inheriting);
  const keys = new Map(applied.map(({ owner, id, key }) => [refText({ owner, id }), key]));
  const keyOf = ({ work }: Ready) => keys.get(refText(refOf(work))) ?? 0;

  const resources = await judgeSizes(writer, ready, keyOf, others, maxResources);
  await recordApplied(
    tx,
    ready.map(({ work: { row }, trusted, reading }, index) => {
      const dueInMs = reading.complete ? null : nextAttemptMs(row.failures + 1, Math.random());
      return { ...cursorOf(row, trusted, reading), resources: resources[index] ?? 0, due_in_ms: dueInMs };
    }),
  );
  await settlePrecedence(tx, applied);
  const lines = ready.flatMap(({ work: { row }, reading }, index) =>
    [...reading.faults, ...overriddenFault(row.catalog_id, overriding[index] ?? [])].map((fault) =>
      tell({ node: row.node, indexUrl: row.index_url, catalogId: row.catalog_id }, fault),
    ),
  );
  await writeLog(tx, lines, now);

  for (const master of ready.filter(isMaster)) {
    const { work, reading } = master;
    const names = [work.row.catalog_id, ...reading.content.resources.keys()];
    await announceMaster(tx, { key: keyOf(master), names, isChanged: true }, work.lease);
  }
}

/** Writes all together; inherited content beyond one assembly follows in parts. */
async function writeContent({ tx, writer, checker }: Writing, ready: readonly Ready[]) {
  const batches = ready.map(({ work, reading, inheriting }) =>
    assembleBatches(tx, work.row.id, reading, inheriting.extending, checker()),
  );
  const incoming: IncomingCatalog[] = [];
  const overriding: Overriding[][] = [];
  for (const [index, { work, trusted, reading, inheriting }] of ready.entries()) {
    const extended = (await batches[index]?.next())?.value ?? [];
    const later = new Set(inheriting.extending.slice(extended.length).map(({ own }) => own.id));
    incoming.push(incomingOf(work.row, trusted, withAssembled(reading, extended, later), later));
    overriding.push(overridingOf(extended));
  }
  const applied = await writer.apply(incoming);
  for (const [index, { work, trusted }] of ready.entries()) {
    for await (const extended of batches[index] ?? []) {
      const resources = extended.map(({ assembled }) => assembled);
      await writer.apply([laterOf(work.row, trusted, resources)]);
      overriding[index]?.push(...overridingOf(extended));
    }
  }
  return { applied, overriding };
}

/** Counts the resources of each. Throws if one would be empty, or if a node has too many: then none of them is applied. */
async function judgeSizes(
  writer: IndexWriter,
  ready: readonly Ready[],
  keyOf: (one: Ready) => number,
  others: Map<number, number>,
  maxResources: number,
): Promise<number[]> {
  const counts = await writer.count(ready.map(keyOf));
  return ready.map((one) => {
    const { node, node_id: nodeId, catalog_id: catalogId } = one.work.row;
    const { resources = 0, offers = 0 } = counts.get(keyOf(one)) ?? {};
    if (resources + offers === 0)
      throw new TrustFault('change', 'empty-catalog', `Nothing would be left of ${catalogId}.`);
    const all = (others.get(nodeId) ?? 0) + resources;
    others.set(nodeId, all);
    if (all > maxResources)
      throw new CrawlFault('too-many-resources', `${node} has ${all} resources; ${maxResources} at most.`);
    return resources;
  });
}

function refOf({ row }: ReadCatalog['work']): { owner: string; id: string } {
  return { owner: row.node, id: row.catalog_id };
}

function refText({ owner, id }: { owner: string; id: string }): string {
  return JSON.stringify([owner, id]);
}

export function isMaster({ trusted }: Pick<ReadCatalog, 'trusted'>): boolean {
  return trusted.entry.catalogType === 'MASTER';
}
