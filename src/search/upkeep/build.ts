import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { readRanged } from '../documents/read-ranged.ts';
import { type IndexFormats, newestOf } from '../entries/index-format.ts';
import {
  countLeft,
  findByState,
  type GenerationRow,
  lockGenerations,
  readBuildState,
  readWritten,
  schemaOf,
  type WrittenGeneration,
} from '../generations/in-use.ts';
import { isAlive } from '../generations/processes.ts';
import { kindOf, rangeOf } from '../keys.ts';
import { createIndexChanges } from '../write/index-changes.ts';
import { createLease } from './lease.ts';

// How the index gets another generation while processes search and write it:
//
//   begin    creates an empty generation, when all live processes know its version and no writer is active. From then on, new catalogs are written to both
//   build    adds catalog by catalog, from the documents, under the lock of the catalog. From then on, its changes are written to both
//   switch   when all catalogs are in it, one row says that it is in use
//   drop     drops the old schema when no search can still read it
//
// Any process may take the next step, one at a time under a lease. Finished steps stay, and another process continues from there.

/** Interval of checks while another process builds, and of lines in the log, in milliseconds. */
const everyMs = { look: 100, log: 10_000 };
/** Longer than one step takes. A process that died loses the lease within 30 s, like all its work (ARCHITECTURE.md, principle 4). */
const leaseMs = 30_000;
const leaseRow = {
  table: 'discovery.generation',
  where: `number = (select min(number) from discovery.generation where state <> 'retired')`,
};
/** Maximum of documents and catalogs in one transaction. A larger catalog has its own transaction. */
const atOnce = { documents: 2_000, catalogs: 100 };
/** Pause of the build per millisecond of work, because searches and writes come first. */
const restShare = 1;

interface BuildContext {
  database: Database;
  logger: Logger;
  metrics?: Metrics;
  formats: IndexFormats;
  /** Maximum duration of a search that began before a switch. */
  graceMs: number;
}

/** Begins a generation for a newer version when possible, continues one that was begun if this process gets the lease, and drops retired ones. */
export async function buildOutdated(context: BuildContext, signal: AbortSignal): Promise<void> {
  const { database, formats, graceMs } = context;
  await dropRetired(database, graceMs);
  const { inUse } = await readBuildState(database);
  // There is none after OpenSearch was used (upkeep/feed-index.ts).
  if (inUse === undefined || inUse.version < newestOf(formats).version)
    await beginGeneration(database, formats, { isForVersion: inUse !== undefined });
  const { building, left } = await readBuildState(database);
  const gauge = context.metrics?.gauge(
    'signpost_index_outdated_catalogs',
    'Catalogs that are not in the newest generation of the index yet',
  );
  gauge?.set(left);
  const onProgress = ({ catalogs }: Progress) => gauge?.set(Math.max(0, left - catalogs));
  if (building) await buildAll(context, building, { signal, restShare, onProgress });
}

/** Creates a generation of the newest version, unless one is being built. `isForVersion`: only if it is newer, and all live processes know it. */
export async function beginGeneration(
  database: Database,
  formats: IndexFormats,
  { isForVersion }: { isForVersion: boolean },
): Promise<void> {
  const { version } = newestOf(formats);
  await database.transaction(async (tx) => {
    await lockGenerations(tx);
    const { next, isBuilding, inUse, hasOlder } = await tx.one<{
      next: number;
      isBuilding: boolean | null;
      inUse: number | null;
      hasOlder: boolean;
    }>(
      `select coalesce(greatest(max(number), (select max(generation) from discovery.catalog)) + 1, 1) as next, bool_or(state = 'building') as "isBuilding", max(version) filter (where state = 'in use') as "inUse",
         exists (select from discovery.index_process where version < $1 and ${isAlive}) as "hasOlder"
       from discovery.generation`,
      [version],
    );
    if (isBuilding || (isForVersion && ((inUse ?? 0) >= version || hasOlder))) return;
    await tx.query('select discovery.create_index($1)', [schemaOf(next)]);
    const insert = `insert into discovery.generation (number, version, state) values ($1, $2, 'building')`;
    await tx.query(insert, [next, version]);
  });
}

type Progress = { catalogs: number; documents: number };

type BuildOptions = { signal?: AbortSignal; restShare: number; onProgress?(done: Progress): void };

/** Adds all catalogs to a generation, and switches searches to it, as long as this process has the lease. */
async function buildAll(
  { database, formats, logger }: BuildContext,
  { number }: GenerationRow,
  { signal, restShare: share, onProgress }: BuildOptions,
): Promise<void> {
  const lease = createLease(database, leaseRow, leaseMs);
  const done: Progress = { catalogs: 0, documents: 0 };
  let loggedAt = Number.NEGATIVE_INFINITY;
  try {
    while (!signal?.aborted && (await lease.take())) {
      const startedAt = performance.now();
      if (startedAt - loggedAt > everyMs.log) {
        loggedAt = startedAt;
        logger.info({ generation: number, ...done }, 'building a generation of the index');
      }
      const step = await database.transaction((tx) => buildNext(tx, formats, number));
      if (step === undefined && (await database.transaction((tx) => switchTo(tx, number))))
        return logger.info({ generation: number, ...done }, 'searches read another generation of the index');
      done.catalogs += step?.catalogs ?? 0;
      done.documents += step?.documents ?? 0;
      onProgress?.(done);
      await delay((performance.now() - startedAt) * share);
    }
  } finally {
    await lease.release();
  }
}

/** One short transaction: some small catalogs, or a large one. Undefined when nothing is left. */
export async function buildNext(tx: Transaction, formats: IndexFormats, number: number, most = atOnce) {
  const generation = (await readWritten(tx, formats)).find((each) => each.number === number);
  if (generation === undefined) return undefined;
  const keys = await tx.column<number>(
    'select key from discovery.catalog where generation < $1 order by generation, key limit $2 for update',
    [number, most.catalogs],
  );
  if (keys.length === 0) return undefined;
  const done: Progress = { catalogs: 0, documents: 0 };
  for (const key of keys) {
    if (done.documents >= most.documents) break;
    done.documents += await buildCatalog(tx, generation, key, most.documents);
    await tx.query('update discovery.catalog set generation = $2 where key = $1', [key, number]);
    done.catalogs += 1;
  }
  return done;
}

/** Adds a catalog to a generation that has nothing of it. Returns its number of resources and offers. */
export async function buildCatalog(
  tx: Transaction,
  generation: WrittenGeneration,
  catalogKey: number,
  documentsAtOnce = atOnce.documents,
): Promise<number> {
  const range = rangeOf(catalogKey);
  for (let count = 0; ; ) {
    const documents = await readRanged(tx, [range], documentsAtOnce);
    const changes = createIndexChanges(generation);
    for (const { key, text } of documents) changes.add(key, undefined, JSON.parse(text));
    await changes.write(tx);
    count += documents.filter(({ key }) => kindOf(key) !== 'catalog').length;
    if (documents.length < documentsAtOnce) return count;
    range.from = (documents.at(-1)?.key ?? 0) + 1;
  }
}

/** Switches searches to a generation. False if a catalog is left, added by a writer that began before the generation. */
export async function switchTo(tx: Transaction, number: number): Promise<boolean> {
  await lockGenerations(tx);
  if ((await countLeft(tx, number)) > 0) return false;
  if ((await findByState(tx, 'in use'))?.number === number) return true;
  const setState = (state: string) => `update discovery.generation set state = '${state}', since = now()`;
  await tx.query(`${setState('retired')} where state = 'in use'`);
  await tx.query(`${setState('in use')} where number = $1`, [number]);
  return true;
}

/** Drops generations that no search reads any more. */
export async function dropRetired(database: Database, graceMs: number): Promise<void> {
  const numbers = await database.column<number>(
    `select number from discovery.generation where state = 'retired' and since < now() - $1 * interval '1 millisecond'`,
    [graceMs],
  );
  for (const number of numbers)
    await database.transaction(async (tx) => {
      await tx.query(`drop schema if exists ${schemaOf(number)} cascade`);
      await tx.query('delete from discovery.generation where number = $1', [number]);
    });
}

/** By hand: builds another generation and switches searches to it. Continues another process's build when that process ends. */
export async function rebuildIndex(context: BuildContext, onProgress?: (done: Progress) => void) {
  const { database, formats } = context;
  await beginGeneration(database, formats, { isForVersion: false });
  const { building } = await readBuildState(database);
  const total: Progress = { catalogs: 0, documents: 0 };
  const note = (done: Progress) => {
    Object.assign(total, done);
    onProgress?.(total);
  };
  while (building && ((await findByState(database, 'in use'))?.number ?? 0) < building.number) {
    await buildAll(context, building, { restShare: 0, onProgress: note });
    await delay(everyMs.look);
  }
  return { ...total, version: newestOf(formats).version };
}
