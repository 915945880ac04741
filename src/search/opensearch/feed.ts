import type { Database, Transaction } from '../../storage/database.ts';
import { isNewsTo, serverText } from '../../storage/freshness.ts';
import { readSubjects } from '../confirm/read-subjects.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import { type KeyRange, kindOf, rangeOf } from '../keys.ts';
import type { OpenSearch } from './client.ts';
import { createDocuments, type IndexDocument } from './document.ts';
import { createIndexes, refresh, switchIndex, writeBulk } from './indexes.ts';
import { createWordWriter } from './word-index.ts';

// How documents come into OpenSearch: in rounds, each under the lock of one row, which is the lease of the work. A round reads which catalogs have changed since the last one (the change
// feed, discovery.change), or compares the next part of all documents, and sends what differs. What is sent has the number of the round as its version, so a late request never overwrites newer
// content. What a failed round has left is done again by the next one, in whichever process.

export interface FeedContext {
  database: Database;
  client: OpenSearch;
  format: IndexFormat;
  now: () => Date;
}

interface State {
  name: string | null;
  building: string | null;
  walked_up_to: number | null;
  version: number;
  snapshot: string | null;
  server: string | null;
  /** The change feed is complete since it was read last. */
  isComplete: boolean | null;
}

/** Documents of one round, and catalogs whose changes it takes. */
const atOnce = { documents: 2_000, catalogs: 500 };
const lastKey = 2 ** 53;
/** Changes are kept for an hour (cache/invalidation.ts). A look is noted each minute, if nothing else is. */
const [completeFor, notedEvery] = ["interval '50 minutes'", "interval '1 minute'"];

export type Feed = ReturnType<typeof createFeed>;

export function createFeed(context: FeedContext) {
  const { database, client } = context;
  const addWords = createWordWriter(client, context.format);
  const tools = { ...context, addWords };
  return {
    /** Does the next part of the work. False: nothing is left, or another process does it. */
    async round(): Promise<boolean> {
      if (!(await hasWork(context))) return false;
      return database.transaction(async (tx) => {
        const state = await lockState(tx);
        return state !== undefined && feed(tools, tx, state);
      });
    },

    /** Begins to build another index beside the one that is searched. */
    async beginRebuild(): Promise<void> {
      await database.transaction(async (tx) => {
        await lockState(tx, { isWaiting: true });
        await beginBuilding(tx, client);
      });
    },

    async progress(): Promise<{ isBuilding: boolean; walkedUpTo: number }> {
      const state = await database.first<Pick<State, 'building' | 'walked_up_to'>>(
        'select building, walked_up_to from discovery.external_index',
      );
      return { isBuilding: state?.building !== null, walkedUpTo: state?.walked_up_to ?? 0 };
    },

    /** Compares a part of all documents with the index that is searched; `mend` sends what differs. */
    async compare(range: KeyRange, { mend }: { mend: boolean }) {
      return database.transaction(async (tx) => {
        const state = await lockState(tx, { isWaiting: true });
        if (!state?.name) return { documents: 0, differences: [], next: undefined };
        const part = await readPart(tools, tx, [range]);
        const differences = await findDifferences(client, state.name, part);
        if (mend) {
          await sendDifferences(tools, state.name, differences, state.version);
          await refresh(client, [state.name]);
        }
        return { documents: part.documents.size, differences, next: part.next };
      });
    },

    /** Milliseconds since the oldest change that searches do not see; undefined while the first index is built. */
    async lag(): Promise<number | undefined> {
      const lag = await database.value<number | null | undefined>(
        `select case when name is null then null else greatest(0, extract(epoch from clock_timestamp() - least(walk_since,
           (select min(since) from discovery.external_change),
           (select min(at) from discovery.change where merged = '{}' and (server is distinct from ${serverText} or ${isNewsTo('(select snapshot from discovery.external_index)')}))
         )) * 1000)::float8 end from discovery.external_index`,
      );
      return lag === null ? undefined : (lag ?? undefined);
    },
  };
}

/** A look without a lock: as a rule nothing has changed. */
async function hasWork({ database, client, now }: FeedContext): Promise<boolean> {
  const found = await database.first<{ isBusy: boolean; hasNews: boolean }>(
    `select name is null or walked_up_to is not null or exists (select from discovery.external_change) as "isBusy",
       fed_at is null or fed_at < now() - ${notedEvery} or server is distinct from ${serverText} or exists (select from discovery.change where ${isNewsTo('snapshot')} and merged = '{}') as "hasNews"
     from discovery.external_index`,
  );
  return found === undefined || found.isBusy || found.hasNews || (await findDue(client, now())).length > 0;
}

async function lockState(tx: Transaction, { isWaiting = false } = {}): Promise<State | undefined> {
  await tx.apart.query('insert into discovery.external_index default values on conflict do nothing');
  return tx.first<State>(
    `update discovery.external_index set version = version + 1
     where id = (select id from discovery.external_index for update ${isWaiting ? '' : 'skip locked'})
     returning name, building, walked_up_to, version, snapshot, server, fed_at > now() - ${completeFor} as "isComplete"`,
  );
}

type FeedTools = FeedContext & { addWords: ReturnType<typeof createWordWriter> };

async function feed(tools: FeedTools, tx: Transaction, state: State): Promise<boolean> {
  const { client } = tools;
  await queueChanges(tools, tx, state);
  const { name, building } = state;
  if (name === null && building === null) {
    await beginBuilding(tx, client);
    return true;
  }
  const targets = [name, building].filter((index) => index !== null);
  const catalogs = await tx.column<number>(
    `select catalog_key from discovery.external_change order by since limit ${atOnce.catalogs}`,
  );
  if (catalogs.length > 0) {
    await sendRanges(tools, tx, targets, catalogs.sort((a, b) => a - b).map(rangeOf), state.version);
    await tx.query('delete from discovery.external_change where catalog_key = any ($1::bigint[])', [
      catalogs,
    ]);
    return true;
  }
  const { walked_up_to: from } = state;
  if (from !== null) await walk(tools, tx, state, from);
  return from !== null;
}

/** Names the catalogs that have changed, whether by a transaction or by time. */
async function queueChanges({ client, now }: FeedTools, tx: Transaction, state: State): Promise<void> {
  const moment = await tx.one<{ snapshot: string; server: string }>(
    `select pg_current_snapshot()::text as snapshot, ${serverText} as server`,
  );
  const isKnown = state.snapshot !== null && state.server === moment.server && state.isComplete === true;
  const isAll =
    !isKnown ||
    (await tx.value<boolean | null>(
      `with news as materialized (select at, catalogs, everything from discovery.change where ${isNewsTo('(select $1)')} and merged = '{}'),
       queued as (
         insert into discovery.external_change (catalog_key, since)
         select key, min(at) from news, unnest(catalogs) as key group by key on conflict do nothing
       ) select bool_or(everything) from news`,
      [state.snapshot],
    ));
  const due = state.name === null ? [] : await findDue(client, now());
  await tx.query(
    'insert into discovery.external_change (catalog_key, since) select *, now() from unnest($1::bigint[]) on conflict do nothing',
    [due],
  );
  if (isAll) state.walked_up_to = 0;
  await tx.query(
    `update discovery.external_index set snapshot = $1, server = $2, fed_at = now(), walked_up_to = $3, walk_since = case when $4 then now() else walk_since end`,
    [moment.snapshot, moment.server, state.walked_up_to, isAll],
  );
}

/** Catalogs with documents that time has changed: an offer, or the catalog itself, has become valid or invalid. */
async function findDue(client: OpenSearch, now: Date): Promise<number[]> {
  const query = { range: { until: { lte: now.getTime() } } };
  const aggs = { due: { terms: { field: 'catalog', size: atOnce.catalogs } } };
  const body = { size: 0, query, aggs };
  const path = `/${client.prefix}/_search?ignore_unavailable=true&request_cache=false`;
  const answer = await client.ask<{ aggregations?: { due: { buckets: { key: number }[] } } }>(path, { body });
  return answer.aggregations?.due.buckets.map(({ key }) => key) ?? [];
}

async function beginBuilding(tx: Transaction, client: OpenSearch): Promise<void> {
  const building = await createIndexes(client);
  await tx.query('update discovery.external_index set building = $1, walked_up_to = 0', [building]);
}

/** Sends the next part of all documents: to the index that is built, or where everything may differ, to the one that is searched. */
async function walk(tools: FeedTools, tx: Transaction, { name, building, version }: State, from: number) {
  const target = building ?? name;
  if (target === null) return;
  const { next } = await sendRanges(tools, tx, [target], [{ from, end: lastKey }], version, {
    isRefreshed: building === null,
  });
  await tx.query('update discovery.external_index set walked_up_to = $1', [next ?? null]);
  if (next !== undefined) return;
  if (building !== null) {
    await refresh(tools.client, [building]);
    await switchIndex(tools.client, building);
  }
  await tx.query('update discovery.external_index set name = $1, building = null, walk_since = null', [
    target,
  ]);
}

/** Sends what differs in some ranges of keys; all of them, or the first part of one. */
async function sendRanges(
  tools: FeedTools,
  tx: Transaction,
  targets: readonly string[],
  ranges: readonly KeyRange[],
  version: number,
  { isRefreshed = true } = {},
): Promise<{ next: number | undefined }> {
  let next: number | undefined;
  let left = ranges;
  do {
    const part = await readPart(tools, tx, left);
    for (const target of targets)
      await sendDifferences(tools, target, await findDifferences(tools.client, target, part), version);
    next = part.next;
    left = left
      .filter(({ end }) => end > (next ?? lastKey))
      .map(({ from, end }) => ({ from: Math.max(from, next ?? 0), end }));
  } while (next !== undefined && ranges[0]?.end !== lastKey);
  if (isRefreshed) await refresh(tools.client, targets);
  return { next };
}

/** The documents that a part of the space of keys should have. */
interface Part {
  ranges: readonly KeyRange[];
  documents: Map<number, IndexDocument>;
  /** Where the next part begins. */
  next: number | undefined;
}

async function readPart(
  { format, now }: FeedContext,
  tx: Transaction,
  ranges: readonly KeyRange[],
): Promise<Part> {
  const rows = await readRanges(tx, ranges, atOnce.documents);
  const next = rows.length < atOnce.documents ? undefined : (rows.at(-1)?.key ?? 0) + 1;
  const at = now();
  const resources = rows.filter(({ key }) => kindOf(key) === 'resource').map(({ key }) => key);
  const subjects = new Map((await readSubjects(tx, resources, { now: at })).map((each) => [each.key, each]));
  const make = createDocuments(format, at);
  const documents = new Map(
    rows.map(({ key, text }) => [key, make(key, JSON.parse(text), subjects.get(key))]),
  );
  const end = next ?? Number.POSITIVE_INFINITY;
  return {
    ranges: ranges
      .filter(({ from }) => from < end)
      .map((each) => ({ ...each, end: Math.min(each.end, end) })),
    documents,
    next,
  };
}

/** The first documents of some ranges, in the order of keys; the head of a catalog is one. */
function readRanges(tx: Transaction, ranges: readonly KeyRange[], limit: number) {
  const ofKind = (kind: 'resource' | 'offer') =>
    `select key, document::text from discovery.${kind} where key >= range.from_key and key < range.end_key order by key limit ${limit}`;
  return tx.rows<{ key: number; text: string }>(
    `select every.key, text from unnest($1::bigint[], $2::bigint[]) as range (from_key, end_key) cross join lateral (
       (${ofKind('resource')}) union all (${ofKind('offer')}) union all
       (select key << 26, head::text from discovery.catalog where key >= (range.from_key + (1 << 26) - 1) >> 26
          and key < (range.end_key + (1 << 26) - 1) >> 26 and provider_id <> '' order by key limit ${limit})
     ) as every (key, text) order by every.key limit ${limit}`,
    [ranges.map(({ from }) => from), ranges.map(({ end }) => end)],
  );
}

export interface DocumentDifference {
  key: number;
  kind: 'missing' | 'surplus';
  document?: IndexDocument;
}

/** Compares digests. */
async function findDifferences(client: OpenSearch, index: string, { ranges, documents }: Part) {
  const held = await readDigests(client, index, ranges);
  const differences: DocumentDifference[] = [];
  for (const [key, document] of documents)
    if (held.get(key) !== document.digest) differences.push({ key, kind: 'missing', document });
  for (const key of held.keys()) if (!documents.has(key)) differences.push({ key, kind: 'surplus' });
  return differences;
}

const digestsAtOnce = 10_000;

async function readDigests(client: OpenSearch, index: string, ranges: readonly KeyRange[]) {
  const digests = new Map<number, number>();
  const inRanges = ranges.map(({ from, end }) => ({ range: { key: { gte: from, lt: end } } }));
  const body = {
    ...{ size: digestsAtOnce, sort: [{ key: 'asc' }], track_total_hits: false, _source: false },
    ...{ query: { bool: { filter: { bool: { should: inRanges } } } }, docvalue_fields: ['digest'] },
  };
  for (let after: number | undefined; ; ) {
    const search = { ...body, ...(after !== undefined && { search_after: [after] }) };
    const { hits } = await client
      .ask<{ hits: { hits: { sort: [number]; fields: { digest: [number] } }[] } }>(
        `/${index}/_search?filter_path=hits.hits.sort,hits.hits.fields&allow_partial_search_results=false`,
        { body: search },
      )
      .then(({ hits = { hits: [] } }) => ({ hits: hits.hits ?? [] }));
    for (const { sort, fields } of hits) digests.set(sort[0], fields.digest[0]);
    if (hits.length < digestsAtOnce) return digests;
    after = hits.at(-1)?.sort[0];
  }
}

async function sendDifferences(
  { client, addWords }: FeedTools,
  index: string,
  differences: readonly DocumentDifference[],
  version: number,
): Promise<void> {
  const meta = (key: number) => ({ _id: `${key}`, version, version_type: 'external_gte' });
  await addWords(
    index,
    differences.flatMap(({ document }) => document?.own ?? []),
  );
  await writeBulk(
    client,
    index,
    differences.map(({ key, document }) =>
      document ? [{ index: meta(key) }, document] : [{ delete: meta(key) }],
    ),
  );
}
