import type { Database, Transaction } from '../../storage/database.ts';
import { isNewsTo, serverText } from '../../storage/freshness.ts';
import { SearchIndexUnavailable } from '../../storage/unavailable.ts';
import { type KeyRange, rangeOf } from '../keys.ts';
import { type OpenSearch, RefusedByOpenSearch } from '../opensearch/client.ts';
import type { IndexedSearch } from '../opensearch/indexed-search.ts';
import { wordsOf } from '../opensearch/indexes.ts';
import { createIndexes, listIndexes, refresh, switchIndex } from './fed-indexes.ts';

// Documents get into OpenSearch in rounds, each under the lock of one row. A round reads which catalogs have changed (discovery.change), compares the
// next part of all documents if it must, and sends the differences, with its time as their version. If it fails, the next one repeats its work.

type FeedContext = Pick<IndexedSearch, 'client' | 'sender'> & { database: Database; now: () => Date };

interface State {
  name: string | null;
  building: string | null;
  walked_up_to: number | null;
  version: number;
  snapshot: string | null;
  server: string | null;
  /** The change feed is complete since the last read. */
  isComplete: boolean | null;
}

/** Maximum of catalogs with changes that one round sends. */
const catalogsAtOnce = 500;
const lastKey = 2 ** 53;
/** Changes wait for the end of a round. */
const walkForMs = 1_000;
/** A round is one transaction, which has a limit (TRANSACTION_LIMIT_SECONDS). */
const changesForMs = 120_000;
/** Changes are kept for an hour (cache/invalidation.ts). Without changes, a check is recorded each minute. */
const [completeFor, notedEvery] = ["interval '50 minutes'", "interval '1 minute'"];

export type Feed = ReturnType<typeof createFeed>;

export function createFeed(context: FeedContext) {
  const { database, client, sender } = context;
  const transaction = <T>(work: (tx: Transaction) => Promise<T>) =>
    database.transaction((tx) => keptOpen(tx, () => work(tx)));
  return {
    /** Does the next part of the work. False if nothing is left, or another process does it. */
    async round(): Promise<boolean> {
      if (!(await hasWork(context))) return false;
      return transaction(async (tx) => {
        const state = await lockState(tx);
        return state !== undefined && feed(context, tx, state);
      }).catch(async (error) => {
        if (error instanceof RefusedByOpenSearch && error.status === 404)
          await transaction((tx) => replaceLost(tx, client));
        throw error;
      });
    },

    /** Begins building another index beside the searched one. */
    async beginRebuild(): Promise<void> {
      await transaction(async (tx) => beginBuilding(tx, client, await lockState(tx, { isWaiting: true })));
    },

    async progress(): Promise<{ isBuilding: boolean; walkedUpTo: number }> {
      const select = 'select building, walked_up_to from discovery.external_index';
      const state = await database.first<Pick<State, 'building' | 'walked_up_to'>>(select);
      return { isBuilding: state?.building !== null, walkedUpTo: state?.walked_up_to ?? 0 };
    },

    /** Compares a part of all documents with the searched index; `mend` sends the differences. */
    async compare(range: KeyRange, { mend }: { mend: boolean }) {
      return transaction(async (tx) => {
        const select = 'select name, version from discovery.external_index';
        const state = mend ? await lockState(tx, { isWaiting: true }) : await tx.first<State>(select);
        if (!state?.name) throw new SearchIndexUnavailable(undefined, 'is being built');
        const { name, version } = state;
        await refresh(client, [name]);
        const part = await sender.compare(tx, name, range, mend ? version : undefined);
        if (mend) await refresh(client, [name]);
        return part;
      });
    },

    /** Milliseconds since the oldest change that searches do not see; undefined while the first index is built. */
    async lag(): Promise<number | undefined> {
      const lag = await database.value<number | null | undefined>(
        `select case when name is null then null else greatest(0, extract(epoch from clock_timestamp() - least(walk_since, case when fed_at < now() - ${completeFor} then fed_at end,
           (select min(since) from discovery.external_change),
           (select min(at) from discovery.change where merged = '{}' and (server is distinct from ${serverText} or ${isNewsTo('(select snapshot from discovery.external_index)')}))
         )) * 1000)::float8 end from discovery.external_index`,
      );
      return lag ?? undefined;
    },
  };
}

/** The server ends transactions after 15 s without a statement (storage/connection.ts), and OpenSearch may take longer. */
async function keptOpen<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void tx.query('select').catch(() => undefined), sayEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

const sayEveryMs = 5_000;

/** Checks without a lock, because usually nothing has changed. */
async function hasWork({ database, client, now }: FeedContext): Promise<boolean> {
  const found = await database.first<{ isBusy: boolean; hasNews: boolean }>(
    `select name is null or walked_up_to is not null or exists (select from discovery.external_change) as "isBusy",
       fed_at is null or fed_at < now() - ${notedEvery} or server is distinct from ${serverText} or exists (select from discovery.change where ${isNewsTo('snapshot')} and merged = '{}') as "hasNews"
     from discovery.external_index`,
  );
  return found === undefined || found.isBusy || found.hasNews || (await findDue(client, now())).length > 0;
}

/** A counter would have the same number again after a failed round, or a restore of the database. */
const nowMs = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

async function lockState(tx: Transaction, { isWaiting = false } = {}): Promise<State | undefined> {
  await tx.apart.query('insert into discovery.external_index default values on conflict do nothing');
  const locked = `(select id from discovery.external_index for update ${isWaiting ? '' : 'skip locked'})`;
  // Committed at once, because a failed round has used its version, too, and the clock may step back. Searches must see another one after the round.
  await tx.apart.query(
    `update discovery.external_index set version = greatest(version + 1, ${nowMs}) where id = ${locked}`,
  );
  return tx.first<State>(
    `update discovery.external_index set version = version + 1 where id = ${locked}
     returning name, building, walked_up_to, version, snapshot, server, fed_at > now() - ${completeFor} as "isComplete"`,
  );
}

async function feed(context: FeedContext, tx: Transaction, state: State): Promise<boolean> {
  const { client, sender } = context;
  const isAll = await queueChanges(context, tx, state);
  const { name, building, walked_up_to: from } = state;
  if (name === null && building === null) {
    await beginBuilding(tx, client, state);
    return true;
  }
  const targets = [name, building].filter((index) => index !== null);
  const oldest = `select catalog_key from discovery.external_change order by since limit ${catalogsAtOnce}`;
  const catalogs = await tx.column<number>(oldest);
  // What a walk, or a failed round, has sent is compared, so it must be visible.
  if (isAll || catalogs.length > 0) await refresh(client, targets);
  if (catalogs.length > 0) {
    const ranges = catalogs.sort((a, b) => a - b).map(rangeOf);
    const options = { version: state.version, forMs: changesForMs };
    let sentUpTo = lastKey;
    for (const index of targets) {
      const [rest] = await sender.sendAll(tx, index, ranges, options);
      sentUpTo = Math.min(sentUpTo, rest?.from ?? lastKey);
    }
    await refresh(client, targets);
    const sent = catalogs.filter((key) => rangeOf(key).end <= sentUpTo);
    await tx.query('delete from discovery.external_change where catalog_key = any ($1::bigint[])', [sent]);
  }
  if (from !== null) await walk(context, tx, state, from);
  return from !== null || catalogs.length > 0;
}

/** Queues the catalogs that have changed, by a transaction or by time. */
async function queueChanges({ client, now }: FeedContext, tx: Transaction, state: State): Promise<boolean> {
  const select = `select pg_current_snapshot()::text as snapshot, ${serverText} as server`;
  const moment = await tx.one<{ snapshot: string; server: string }>(select);
  const isKnown = state.snapshot !== null && state.server === moment.server && state.isComplete === true;
  const isAll =
    !isKnown ||
    (await tx.value<boolean | null>(
      `with news as materialized (select at, catalogs, lists, everything from discovery.change where ${isNewsTo('(select $1)')} and merged = '{}'),
       queued as (
         insert into discovery.external_change (catalog_key, since)
         select key, min(at) from news, unnest(catalogs) as key group by key on conflict do nothing
       ) select bool_or(everything and lists = '{}') from news`,
      [state.snapshot],
    ));
  const due = state.name === null ? [] : await findDue(client, now());
  await tx.query(
    'insert into discovery.external_change (catalog_key, since) select *, now() from unnest($1::bigint[]) on conflict do nothing',
    [due],
  );
  if (isAll) state.walked_up_to = 0;
  await tx.query(
    `update discovery.external_index set snapshot = $1, server = $2, fed_at = now(), walked_up_to = $3,
       walk_since = case when $4 then coalesce(walk_since, case when $5 then now() else fed_at end, now()) else walk_since end`,
    [moment.snapshot, moment.server, state.walked_up_to, isAll, isKnown],
  );
  return isAll === true;
}

/** Catalogs with documents that time has changed: an offer, or the catalog itself, has become valid or invalid. */
async function findDue(client: OpenSearch, now: Date): Promise<number[]> {
  const aggs = { due: { terms: { field: 'catalog', size: catalogsAtOnce } } };
  const body = { size: 0, query: { range: { until: { lte: now.getTime() } } }, aggs };
  const path = `/${client.prefix}/_search?ignore_unavailable=true&request_cache=false`;
  const answer = await client.ask<{ aggregations?: { due: { buckets: { key: number }[] } } }>(path, { body });
  return answer.aggregations?.due.buckets.map(({ key }) => key) ?? [];
}

async function beginBuilding(tx: Transaction, client: OpenSearch, state?: State): Promise<void> {
  const former = [state?.name, state?.building].filter((name) => typeof name === 'string');
  const building = await createIndexes(client, former);
  await tx.query('update discovery.external_index set building = $1, walked_up_to = 0', [building]);
}

/** Builds another index if OpenSearch has lost one, or if the commit after a switch failed. */
async function replaceLost(tx: Transaction, client: OpenSearch): Promise<void> {
  const state = await lockState(tx);
  const known = await listIndexes(client);
  const isLost = (index: string) => !known.includes(index) || !known.includes(wordsOf(index));
  const [name, building] = [state?.name ?? null, state?.building ?? null];
  if (name !== null && isLost(name)) await tx.query('update discovery.external_index set name = null');
  const isNeeded = building === null ? name !== null && isLost(name) : isLost(building);
  if (isNeeded) await beginBuilding(tx, client, state);
}

/** Sends the next part of all documents: to the index being built, or if everything may differ, to the searched one. */
async function walk({ client, sender }: FeedContext, tx: Transaction, state: State, from: number) {
  const { name, building, version } = state;
  const target = building ?? name;
  if (target === null) return;
  const options = { version, forMs: walkForMs };
  const [rest] = await sender.sendAll(tx, target, [{ from, end: lastKey }], options);
  await tx.query('update discovery.external_index set walked_up_to = $1', [rest?.from ?? null]);
  if (rest !== undefined) return;
  await refresh(client, [target]);
  if (building !== null) await switchIndex(client, building);
  const done = 'update discovery.external_index set name = $1, building = null, walk_since = null';
  await tx.query(done, [target]);
}
