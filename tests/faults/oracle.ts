import { pullPushesForward } from '../../src/storage/catalog/pushes.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Actor } from '../support/network/actor.ts';
import { areAllPushed } from '../support/network/receiver.ts';
import { takeTime, until, watchFor } from '../support/time.ts';
import { isLong, type Outcome } from './fault-run.ts';
import { isAnswered, lookAround, ownId, type Published, sharedId, type Work } from './work.ts';
import type { World } from './world.ts';

// The invariants after the faults. An acknowledged message is lost if any of its effects is missing:
//
//   a publish        its result in on_publish, its resources in the catalog service, in the discovery service and in the other discovery service that
//   gets pushes
//   a search         its on_discover, with everything that there was to find
//   a signed file    its catalog in the discovery service, in the last published version
//
// It is applied twice if it has changed anything more than once: two submissions or callbacks of one message, two changes of one catalog by one
// submission, a version of a catalog without a publish, a duplicate catalog in the index, two different callbacks of one message, or a callback that
// is sent again after its confirmation was recorded. A callback may be repeated, with the same bytes under the same messageId, if its sender was
// killed before it could record the confirmation: that is no change.

const settleMs = 300_000;
/** Retries become rarer during an outage, but the tests are about the work, not the delay. Not often, because work under way is then done again. */
const hurryEveryMs = 15_000;

export async function judge(world: World, work: Work): Promise<Outcome> {
  let missing = await findMissing(world, work);
  let hurryAt = 0;
  await until(
    async () => {
      if (missing.length === 0 && (await areAllPushed(world.network))) return true;
      if (Date.now() > hurryAt) {
        await pullPushesForward(world.network.database, 0);
        await lookAround(world);
        hurryAt = Date.now() + hurryEveryMs;
      }
      await takeTime(250);
      missing = await findMissing(world, work);
      return false;
    },
    'everything that was acknowledged',
    settleMs,
  ).catch(() => undefined);
  const repeated = await findRepeated(world, work);
  if (missing.length + repeated.length > 0) await tell(world, { missing, repeated });
  return {
    acknowledged: work.published.length + work.searched.length + work.hosted.size,
    lost: missing.length,
    appliedTwice: repeated.length,
  };
}

/** Helps to find the reason. */
async function tell({ network, catalog, discovery }: World, found: object): Promise<void> {
  const { rows: pushes } = await network.database.query(
    `select subscriber, catalog_key, in_flight, state, push.attempts, last_error, push.due_at, rest_until, leased_until
     from catalog.push join catalog.push_lane using (subscriber) where push.due_at is not null`,
  );
  const { rows: sessions } = await network.database.query(
    `select state, wait_event, now() - xact_start as age, left(query, 200) as query from pg_stat_activity
     where datname = current_database() and state <> 'idle'`,
  );
  const logs = [catalog, discovery].flatMap(({ processes }) => processes.map(({ log }) => log.slice(-20)));
  console.error(JSON.stringify({ ...found, pushes, sessions, logs }, undefined, 1));
}

/** By catalog, the names of its resources. */
type Catalogs = Map<string, Record<string, string>>;

async function findMissing(world: World, work: Work): Promise<string[]> {
  const { database } = world.network;
  const [ordered, inService, inIndex] = await Promise.all([
    orderByAcceptance(database, work.published),
    readCatalogs(database, 'catalog', 'own'),
    readCatalogs(database, 'discovery', 'document'),
  ]);
  const holders: Catalogs[] = [inService, inIndex, readPushed(world)];
  const latest = new Map(ordered.map((published) => [sharedId(published.as), published.mark]));
  const publishes = work.published.filter((published) => {
    const { as, mark } = published;
    const isHeld = holders.every((held) => {
      const shared = held.get(sharedId(as));
      return (
        shared?.[mark] !== undefined &&
        shared.latest === latest.get(sharedId(as)) &&
        held.has(ownId(as, mark))
      );
    });
    return !isHeld || !ordered.includes(published) || !isTold(published);
  });
  const searches = work.searched.filter((messageId) => !isAnswered(world, messageId));
  const hosted = [...work.hosted].filter(([id, names]) => !isSame(inIndex.get(id), names));
  return [...publishes.map(({ as, mark }) => `${as.id} ${mark}`), ...searches, ...hosted.map(([id]) => id)];
}

/** Only processed ones. */
async function orderByAcceptance(database: Database, published: readonly Published[]): Promise<Published[]> {
  const { rows } = await database.query<{ messageId: string }>(
    'select message_id as "messageId" from catalog.submission where done_at is not null order by id',
  );
  const byMessage = new Map(published.map((one) => [one.messageId, one]));
  return rows.flatMap(({ messageId }) => byMessage.get(messageId) ?? []);
}

function isTold({ as, messageId }: Published): boolean {
  const callback = as.received.find(
    ({ action, body }) => action === 'catalog/on_publish' && body.context.messageId === messageId,
  );
  const results: { status: string }[] = callback?.body.message.results ?? [];
  return results.length === 2 && results.every(({ status }) => status === 'ACCEPTED');
}

async function readCatalogs(
  database: Database,
  schema: 'catalog' | 'discovery',
  document: string,
): Promise<Catalogs> {
  const { rows } = await database.query<{ id: string; names: string }>(
    `select catalog.id, json_object_agg(${document}::json ->> 'id', ${document}::json #>> '{descriptor,name}')::text as names
     from ${schema}.catalog join ${schema}.resource on catalog_key = catalog.key group by catalog.key`,
  );
  return new Map(rows.map(({ id, names }) => [id, JSON.parse(names)]));
}

function readPushed({ receiver }: World): Catalogs {
  type Named = { descriptor: { name: string } };
  return new Map(
    Array.from(receiver.copies, ([id, { resources }]) => [
      id,
      Object.fromEntries(
        Object.entries(resources).map(([resource, document]) => [
          resource,
          (document as Named).descriptor.name,
        ]),
      ),
    ]),
  );
}

function isSame(held: Record<string, string> | undefined, wanted: Record<string, string>): boolean {
  const sorted = (names: Record<string, string>) => JSON.stringify(Object.entries(names).sort());
  return held !== undefined && sorted(held) === sorted(wanted);
}

async function findRepeated(world: World, work: Work): Promise<string[]> {
  const { database } = world.network;
  const { rows } = await database.query<{ what: string }>(
    `select 'submissions of ' || message_id as what from catalog.submission group by message_id having count(*) > 1
     union all select 'callbacks of ' || message_id from work.callback group by role, message_id having count(*) > 1
     union all select format('changes of %s by %s', catalog_key, submission_id) from catalog.change_log
       where submission_id is not null group by catalog_key, submission_id having count(*) > 1
     union all select 'versions of ' || catalog.id from catalog.catalog join catalog.change_log on catalog_key = key
       group by key having max(catalog.version) <> count(distinct submission_id)
     union all select 'copies of ' || id from discovery.catalog where provider_id <> '' group by source, owner, id having count(*) > 1`,
  );
  const participants = [...world.publishers, world.probe, world.consumer];
  const differing = participants.flatMap(findDiffering);
  const sentAgain = isLong ? await findSentAgain(world, participants, work) : [];
  return [...rows.map(({ what }) => what), ...differing, ...sentAgain];
}

function findDiffering({ received }: Actor): string[] {
  const first = new Map<string, Buffer>();
  return received.flatMap(({ body, raw }) => {
    const { messageId } = body.context;
    const before = first.get(messageId) ?? raw;
    first.set(messageId, before);
    return before.equals(raw) ? [] : [`different callbacks of ${messageId}`];
  });
}

/** A confirmed delivery stays confirmed: the next process does not repeat it. (In the short form, killed-delivery.test.ts shows this.) */
async function findSentAgain(world: World, participants: readonly Actor[], work: Work): Promise<string[]> {
  const { database } = world.network;
  await until(
    async () => {
      const { rowCount } = await database.query("select from work.callback where state <> 'delivered'");
      return rowCount === 0;
    },
    `the callbacks of ${work.published.length + work.searched.length} messages to be confirmed`,
    settleMs,
  );
  const before = participants.map(({ received }) => received.length);
  for (const { processes, start } of [world.catalog, world.discovery]) {
    await processes[0]?.stop();
    await start(0);
  }
  await watchFor(1_000);
  return participants.flatMap(({ id, received }, index) =>
    received.slice(before[index]).map(({ body }) => `${body.context.messageId} sent again to ${id}`),
  );
}
