import { randomUUID } from 'node:crypto';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { repeat } from '../../delivery/repeat.ts';
import type { Logger } from '../../logger.ts';
import type { Database } from '../../storage/database.ts';
import { inBatches, isHead } from '../documents/keys.ts';
import { type IndexFormats, newestOf } from '../format/index-format.ts';
import { keysOf } from '../lists/key-sets.ts';
import { listProcesses } from '../reindex/processes.ts';
import type { OpenSearchClient } from './client.ts';
import { NewerVersionWritten, OpenSearchFailure } from './failure.ts';
import {
  addIndex,
  advance,
  aliasOf,
  beginBuild,
  forgetIndex,
  type IndexRow,
  LeaseLost,
  listIndexes,
  listUnused,
  makeCurrent,
  noteProblem,
  purgeNotes,
  readChanges,
  releaseLeases,
  takeLease,
} from './index-rows.ts';
import { listAfter, listResources, readResources } from './read-resources.ts';

// Keeps indexes of OpenSearch in step with PostgreSQL. An index is built in the order of keys, while its watermark stays at the snapshot that was taken before; then it follows what was committed
// since. Each step is written with a new epoch as its version, the index is refreshed, and then the watermark moves, so that a crash at any point only has a step done again. When a
// new index is in step, it replaces the one before it.

export interface FollowerContext {
  database: Database;
  client: OpenSearchClient;
  logger: Logger;
  formats: IndexFormats;
}

const lookEveryMs = 250;
const tidyEveryMs = 60_000;
const pingEveryMs = 2_000;
const maxKeysAtOnce = 20_000;
/** Resources that are read and sent at a time. */
const resourcesAtOnce = 500;
const builtAtOnce = 2_000;

export function startFollower(context: FollowerContext): { close(): Promise<void> } {
  const { database, logger } = context;
  const token = randomUUID();
  const watch = watchFailures(context);
  const loops = [
    repeat({ what: 'following with OpenSearch', everyMs: lookEveryMs, logger }, (signal) =>
      watch(() => follow(context, token, signal)),
    ),
    repeat({ what: 'tidying up OpenSearch', everyMs: tidyEveryMs, logger }, () =>
      watch(() => dropUnused(context)),
    ),
    // So that /ready knows, and searches come back, also while nothing is written.
    repeat({ what: 'asking for OpenSearch', everyMs: pingEveryMs, logger }, () =>
      watch(() => forgetLost(context)),
    ),
  ];
  return {
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
      await releaseLeases(database, token);
    },
  };
}

/** While OpenSearch is gone, that is told once, and tried again and again. */
function watchFailures({ client, logger }: FollowerContext) {
  let isTold = false;
  return async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      // Where there was nothing to do, OpenSearch was not asked.
      if (!isTold || client.problem() !== undefined) return;
      isTold = false;
      logger.info('OpenSearch answers again; its index catches up');
    } catch (error) {
      if (error instanceof LeaseLost) return;
      if (!(error instanceof OpenSearchFailure)) throw error;
      if (!isTold) logger.warn({ reason: error.message }, 'OpenSearch does not do what it is asked');
      isTold = true;
    }
  };
}

/** Brings every index of this version in step, as far as this process gets the leases. */
export async function follow(context: FollowerContext, token: string, signal?: AbortSignal): Promise<void> {
  const { database, formats } = context;
  const { version } = newestOf(formats);
  const known = (await listIndexes(database)).filter((row) => row.version === version);
  const names = known.filter(isToDo).map(({ name }) => name);
  if (known.length === 0) {
    await dropUnused(context);
    names.push(await addIndex(database, version));
  }
  try {
    for (const name of names) while (!signal?.aborted && (await takeStep(context, name, token)));
  } catch (error) {
    if (error instanceof OpenSearchFailure) await noteProblem(database, token, error.message);
    // Another process may reach OpenSearch.
    await releaseLeases(database, token);
    throw error;
  }
}

function isToDo({ isCurrent, hasNews }: IndexRow): boolean {
  return !isCurrent || hasNews;
}

/** An OpenSearch that was emptied gets a new index. */
async function forgetLost({ database, client }: FollowerContext): Promise<void> {
  for (const { name, snapshot } of await listIndexes(database))
    if (snapshot !== null && !(await client.exists(name))) await forgetIndex(database, name);
}

/** Those of versions that no process knows any more, and those of another history of the database. */
async function dropUnused(context: FollowerContext): Promise<void> {
  const { database, formats } = context;
  const alive = (await listProcesses(database)).map(({ version }) => version);
  for (const name of await listUnused(database, [newestOf(formats).version, ...alive]))
    await dropIndex(context, name);
}

async function dropIndex({ database, client }: FollowerContext, name: string): Promise<void> {
  await client.deleteIndex(name);
  await forgetIndex(database, name);
}

/** Returns whether there may be more to do at once. */
async function takeStep(context: FollowerContext, name: string, token: string): Promise<boolean> {
  const { database, client } = context;
  const row = await takeLease(database, name, token);
  if (row === undefined) return false;
  if (row.snapshot === null) {
    await client.createIndex(name);
    return beginBuild(database, name, token);
  }
  if (row.builtUpTo !== null) return buildPart(context, row, row.builtUpTo, token);
  const isInStep = await followPart(context, row, row.snapshot, token);
  if (!isInStep) return true;
  if (!row.isCurrent) await replaceCurrent(context, row);
  return false;
}

async function buildPart(
  context: FollowerContext,
  row: IndexRow,
  builtUpTo: number,
  token: string,
): Promise<boolean> {
  const keys = await listAfter(context.database, builtUpTo, builtAtOnce);
  await writeResources(context, row, token, keys);
  await advance(context.database, row, token, { builtUpTo: keys.at(-1) ?? null, documents: keys.length });
  return true;
}

/** Returns whether the index has all that was committed a moment ago. */
async function followPart(
  context: FollowerContext,
  row: IndexRow,
  watermark: string,
  token: string,
): Promise<boolean> {
  const { database, client } = context;
  const { keys, snapshot, isAll } = await readChanges(database, watermark, maxKeysAtOnce);
  // The first time, what was built is refreshed.
  if (keys.length === 0 && row.isCurrent) return true;
  const members = await listResources(database, keys.filter(isHead));
  const changed = new Set([...members, ...keys.filter((key) => !isHead(key))]);
  await writeResources(context, row, token, [...keysOf(changed)]);
  await client.refresh(row.name);
  await advance(database, row, token, { snapshot });
  await purgeNotes(database);
  return isAll;
}

/** As they are now; those that there are no more leave the index. While some are sent, the next ones are read. */
async function writeResources(
  context: FollowerContext,
  row: IndexRow,
  token: string,
  keys: readonly number[],
): Promise<void> {
  const { database, client, formats } = context;
  const format = newestOf(formats);
  let sending: Promise<void> = Promise.resolve();
  try {
    for (const batch of inBatches(keys, resourcesAtOnce)) {
      const written = await readResources(database, batch, format);
      const found = new Set(written.map(({ key }) => key));
      await sending;
      await advance(database, row, token);
      const removed = batch.filter((key) => !found.has(key));
      sending = client.write(row.name, row.epoch, { written, removed });
      sending.catch(() => undefined); // it is awaited, and thrown, a step later
      await immediate();
    }
    await sending;
  } catch (error) {
    if (error instanceof NewerVersionWritten) await replaceIfAhead(context, row, token);
    throw error;
  }
}

/** A document has a newer version: another process has taken the lease and written it, or this database is an older state than the one that the index followed. */
async function replaceIfAhead(context: FollowerContext, row: IndexRow, token: string): Promise<void> {
  await advance(context.database, row, token);
  await dropIndex(context, row.name);
  throw new OpenSearchFailure('the index is ahead of the database, which was set back: another one is built');
}

async function replaceCurrent({ database, client, logger }: FollowerContext, row: IndexRow): Promise<void> {
  const replaced = await makeCurrent(database, row);
  await client.moveAlias(aliasOf(row.version), row.name);
  for (const name of replaced) await client.deleteIndex(name);
  logger.info({ index: row.name, documents: row.documents }, 'searches ask this index of OpenSearch now');
}

/** Builds a new index in place of the current one, here or in whichever process has the lease. Returns how many resources are in it. */
export async function rebuildIndex(
  context: FollowerContext,
  onProgress: (resources: number) => void,
): Promise<number> {
  const { database, formats } = context;
  const { version } = newestOf(formats);
  const token = randomUUID();
  const isNew = (row: IndexRow) => row.version === version && !row.isCurrent;
  const name = (await listIndexes(database)).find(isNew)?.name ?? (await addIndex(database, version));
  try {
    for (;;) {
      await takeStep(context, name, token);
      const row = (await listIndexes(database)).find((each) => each.name === name);
      if (row === undefined) throw new OpenSearchFailure('the index that was being built is gone');
      if (row.isCurrent) return row.documents;
      onProgress(row.documents);
      await delay(stepPauseMs);
    }
  } finally {
    await releaseLeases(database, token);
  }
}

/** Between two steps, or looks at what another process does. */
const stepPauseMs = 20;
