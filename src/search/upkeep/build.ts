import { setTimeout as delay } from 'node:timers/promises';
import { repeat } from '../../delivery/repeat.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { type IndexFormats, newestOf } from '../entries/index-format.ts';
import { countLeft, type GenerationRow, readBuildState } from '../generations/build-state.ts';
import {
  lockGenerations,
  readInUse,
  readWritten,
  schemaOf,
  type WrittenGeneration,
} from '../generations/in-use.ts';
import { isAlive } from '../generations/processes.ts';
import { firstNumbers, keyOf, lastNumbers } from '../keys.ts';
import { createIndexChanges } from '../write/index-changes.ts';
import { createLease } from './lease.ts';

// How the index gets another generation, while processes search and write it:
//
//   begin    when no process is alive that does not know its version, and no writer is under way, the new one is made, empty. From then on new catalogs are written to both
//   build    catalog by catalog, from the documents, under the lock of the catalog; from then on its changes are written to both
//   switch   when all catalogs are in it, one row says that it is in use
//   drop     when no search can still read the one before, its schema is dropped
//
// Any process may take the next step, one at a time under a lease. What it has done is done, and another one goes on from there.

/** Between two looks, and lines of the log, in milliseconds. */
const everyMs = { look: 5_000, log: 10_000 };
/** Longer than one step takes. A process that died loses the lease within 30 s, as it loses all work (ARCHITECTURE.md, principle 4). */
const leaseMs = 30_000;
const leaseRow = { table: 'discovery.generation', where: `state = 'in use'` };
/** Documents and catalogs of one transaction; a larger catalog is one by itself. */
const atOnce = { documents: 2_000, catalogs: 100 };
/** The build rests so long for each millisecond that it works: searches and writes come first. */
const restShare = 1;

interface BuildContext {
  database: Database;
  logger: Logger;
  metrics?: Metrics;
  formats: IndexFormats;
  /** As long as a search may take that began before a switch. */
  graceMs: number;
}

export function startBuilder(context: BuildContext): { close(): Promise<void> } {
  const { logger } = context;
  return repeat({ what: 'building the index', everyMs: everyMs.look, logger }, (signal) =>
    buildOutdated(context, signal),
  );
}

/** Begins a generation for a newer version, if it is time; goes on with one that was begun, if this process gets the lease; and drops retired ones. */
export async function buildOutdated(context: BuildContext, signal: AbortSignal): Promise<void> {
  const { database, formats, graceMs } = context;
  await dropRetired(database, graceMs);
  if ((await readInUse(database)).version < newestOf(formats).version)
    await beginGeneration(database, formats, { isForVersion: true });
  const { building, left } = await readBuildState(database);
  const gauge = context.metrics?.gauge(
    'signpost_index_outdated_catalogs',
    'Catalogs that are not in the newest generation of the index yet',
  );
  gauge?.set(left);
  if (!building) return;
  const lease = createLease(database, leaseRow, leaseMs);
  try {
    await buildAll(context, building, {
      mayGoOn: async () => !signal.aborted && (await lease.take()),
      restShare,
      onProgress: (done) => gauge?.set(Math.max(0, left - done.catalogs)),
    });
  } finally {
    await lease.release();
  }
}

/** Makes a generation of the newest version, unless one is being built. `isForVersion`: only where that is newer than the one in use, and no process of an older version is alive. */
export async function beginGeneration(
  database: Database,
  formats: IndexFormats,
  { isForVersion }: { isForVersion: boolean },
): Promise<void> {
  const { version } = newestOf(formats);
  await database.transaction(async (tx) => {
    await lockGenerations(tx);
    const { rows } = await tx.query<{ next: number; isBuilding: boolean; inUse: number; hasOlder: boolean }>(
      `select max(number) + 1 as next, bool_or(state = 'building') as "isBuilding", max(version) filter (where state = 'in use') as "inUse",
         exists (select from discovery.index_process where version < $1 and ${isAlive}) as "hasOlder"
       from discovery.generation`,
      [version],
    );
    const { next = 1, isBuilding = false, inUse = 0, hasOlder = false } = rows[0] ?? {};
    if (isBuilding || (isForVersion && (inUse >= version || hasOlder))) return;
    await tx.query('select discovery.create_index($1)', [schemaOf(next)]);
    await tx.query(`insert into discovery.generation (number, version, state) values ($1, $2, 'building')`, [
      next,
      version,
    ]);
  });
}

interface Progress {
  catalogs: number;
  documents: number;
}

interface BuildOptions {
  mayGoOn(): Promise<boolean>;
  restShare: number;
  onProgress?(done: Progress): void;
}

/** Puts all catalogs into a generation, and has searches read it. False where it may not go on. */
async function buildAll(
  { database, formats, logger }: Pick<BuildContext, 'database' | 'formats' | 'logger'>,
  { number }: GenerationRow,
  { mayGoOn, restShare: share, onProgress }: BuildOptions,
): Promise<boolean> {
  const done: Progress = { catalogs: 0, documents: 0 };
  let loggedAt = performance.now();
  logger.info({ generation: number }, 'building a generation of the index');
  while (await mayGoOn()) {
    const startedAt = performance.now();
    const step = await database.transaction((tx) => buildNext(tx, formats, number));
    if (step === undefined) {
      const isSwitched = await database.transaction((tx) => switchTo(tx, number));
      if (isSwitched)
        logger.info({ generation: number, ...done }, 'searches read another generation of the index');
      if (isSwitched) return true;
      continue;
    }
    done.catalogs += step.catalogs;
    done.documents += step.documents;
    onProgress?.(done);
    if (performance.now() - loggedAt > everyMs.log) {
      loggedAt = performance.now();
      logger.info({ generation: number, ...done }, 'building a generation of the index');
    }
    await delay((performance.now() - startedAt) * share);
  }
  return false;
}

/** One short transaction: some small catalogs, or a large one. Undefined when nothing is left. */
export async function buildNext(
  tx: Transaction,
  formats: IndexFormats,
  number: number,
  most = atOnce,
): Promise<Progress | undefined> {
  const generation = (await readWritten(tx, formats)).find((each) => each.number === number);
  if (generation === undefined) return undefined;
  const { rows } = await tx.query<{ key: number; head: string; isKnown: boolean }>(
    `select key, head::text as head, provider_id <> '' as "isKnown" from discovery.catalog
     where generation < $1 order by generation, key limit $2 for update`,
    [number, most.catalogs],
  );
  if (rows.length === 0) return undefined;
  const done: Progress = { catalogs: 0, documents: 0 };
  for (const { key, head, isKnown } of rows) {
    if (done.documents >= most.documents) break;
    if (isKnown) done.documents += await buildCatalog(tx, generation, key, JSON.parse(head), most.documents);
    await tx.query('update discovery.catalog set generation = $2 where key = $1', [key, number]);
    done.catalogs += 1;
  }
  return done;
}

/** Puts a catalog into a generation that has nothing of it. */
export async function buildCatalog(
  tx: Transaction,
  generation: WrittenGeneration,
  catalogKey: number,
  head: object,
  documentsAtOnce = atOnce.documents,
): Promise<number> {
  const write = async (documents: Iterable<[number, object]>) => {
    const changes = createIndexChanges(generation);
    for (const [key, document] of documents) changes.add(key, undefined, document);
    await changes.write(tx);
  };
  await write([[keyOf(catalogKey, 0), head]]);
  let count = 0;
  for (const kind of ['resource', 'offer'] as const)
    for (let after = keyOf(catalogKey, firstNumbers[kind]) - 1; ; ) {
      const { rows } = await tx.query<{ key: number; document: string }>(
        `select key, document::text as document from discovery.${kind} where key > $1 and key <= $2 order by key limit $3`,
        [after, keyOf(catalogKey, lastNumbers[kind]), documentsAtOnce],
      );
      await write(rows.map(({ key, document }) => [key, JSON.parse(document)]));
      count += rows.length;
      if (rows.length < documentsAtOnce) break;
      after = rows.at(-1)?.key ?? after;
    }
  return count;
}

/** Has searches read a generation. False where a catalog is left: a writer that began before the generation has brought it. */
export async function switchTo(tx: Transaction, number: number): Promise<boolean> {
  await lockGenerations(tx);
  if ((await countLeft(tx, number)) > 0) return false;
  if ((await readInUse(tx)).number === number) return true;
  await tx.query(`update discovery.generation set state = 'retired', since = now() where state = 'in use'`);
  await tx.query(`update discovery.generation set state = 'in use', since = now() where number = $1`, [
    number,
  ]);
  return true;
}

/** Drops generations that no search reads any more. */
async function dropRetired(database: Database, graceMs: number): Promise<void> {
  const { rows } = await database.query<{ number: number }>(
    `select number from discovery.generation where state = 'retired' and since < now() - $1 * interval '1 millisecond'`,
    [graceMs],
  );
  for (const { number } of rows)
    await database.transaction(async (tx) => {
      await tx.query(`drop schema if exists ${schemaOf(number)} cascade`);
      await tx.query('delete from discovery.generation where number = $1', [number]);
    });
}

/** By hand: builds another generation of the newest version, and has searches read it. Another process may have the lease: then it goes on where that one ends. */
export async function rebuildIndex(
  context: Omit<BuildContext, 'metrics'>,
  onProgress?: (done: Progress) => void,
): Promise<Progress & { version: number }> {
  const { database, formats } = context;
  await beginGeneration(database, formats, { isForVersion: false });
  const { building, left } = await readBuildState(database);
  const lease = createLease(database, leaseRow, leaseMs);
  let done: Progress = { catalogs: 0, documents: 0 };
  try {
    for (let isDone = building === undefined; !isDone && building; ) {
      const note = (each: Progress) => {
        done = each;
        onProgress?.(each);
      };
      const options = { mayGoOn: lease.take, restShare: 0, onProgress: note };
      isDone =
        (await buildAll(context, building, options)) || (await readInUse(database)).number >= building.number;
      if (!isDone) await delay(everyMs.look / 10);
    }
  } finally {
    await lease.release();
  }
  return {
    catalogs: Math.max(left, done.catalogs),
    documents: done.documents,
    version: newestOf(formats).version,
  };
}
