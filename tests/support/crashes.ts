import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { identityOf } from '../../src/protocol/identity.ts';
import type { Actor, Body } from './actor.ts';
import { endLeases } from './leases.ts';
import { startNetwork, type TestNetwork } from './network.ts';
import { served } from './publish.ts';
import { allPushed, currentCopies, type Receiver, startReceiver } from './receiver.ts';
import { catalog, plain } from './sample-catalogs.ts';
import { startCatalogProcess } from './service-process.ts';
import { takeTime, until, watchFor } from './time.ts';

// Many publishes at once into a service that is killed meanwhile, and what must hold afterwards: every acknowledged publish has been
// applied once, its publisher has been told, and every Discovery Service has what the service has.

const networks = ['a.example/retail', 'b.example/energy'] as const;
/** A dead process loses its work within 20 s; then it has to be done. */
const recoveryMs = 90_000;

export interface CrashTest {
  publishers: number;
  /** Of each publisher, all at once. */
  publishes: number;
  /** Each at a random moment of the work that is left, and not later than so many milliseconds after the service started. */
  kills: number;
  killWithinMs: number;
  /** How often all this happens, one after the other. */
  rounds: number;
  /** The leases of a killed service are left to end by themselves. */
  waitsForLeases?: boolean;
}

export async function publishThroughCrashes(test: CrashTest): Promise<void> {
  const network = await startNetwork({ settings: { ROLES: 'registry' } });
  let service = await startCatalogProcess(network);
  try {
    const publishers = await Promise.all(
      Array.from({ length: test.publishers }, (_, index) => network.actor(`publisher-${index}`)),
    );
    const receivers = [await startReceiver(network, 'ds-one'), await startReceiver(network, 'ds-all')];
    await receivers[0]?.subscribe({ networkIds: [networks[0]] });
    await receivers[1]?.subscribe({ networkIds: [...networks] });

    const all: Published[] = [];
    for (let round = 0; round < test.rounds; round += 1) {
      const sending = publishers.flatMap((as, index) => publishMany(as, index, round, test));
      const progress = watchProgress(sending, publishers);
      for (let kill = 0; kill < test.kills; kill += 1) {
        await randomMoment(progress, test.killWithinMs);
        await service.kill();
        if (!test.waitsForLeases) await endLeases(network.database);
        service = await startCatalogProcess(network);
      }
      all.push(...(await Promise.all(sending)));
      await Promise.all(
        all.map(({ as, messageId }) => as.waitFor('catalog/on_publish', messageId, recoveryMs)),
      );
      await expectAppliedOnce(network, all);
      await expectConverged(network, receivers, publishers);
    }
    for (const { as, messageId } of all) expectSameBytes(as, messageId);
    await expectNothingSentAgain(network, publishers, async () => {
      await service.stop();
      service = await startCatalogProcess(network);
    });
  } catch (error) {
    console.error(service.log.join('\n'));
    throw error;
  } finally {
    await service.kill();
    await network.close();
  }
}

interface Published {
  as: Actor;
  messageId: string;
  /** Names what this publish brought. */
  mark: string;
}

function publishMany(
  as: Actor,
  publisher: number,
  round: number,
  { publishes }: CrashTest,
): Promise<Published>[] {
  return Array.from({ length: publishes }, async (_, index) => {
    const mark = `${round}-${index}`;
    const catalogs = [
      catalog(sharedId(as), { resources: [plain('latest', mark), plain(mark)] }),
      catalog(`${as.id}-${mark}`, { resources: [plain('a'), plain('b')] }),
    ];
    const visibleTo = [networks[publisher % networks.length]];
    const publishDirectives = catalogs.map(({ id }) => ({
      catalogId: id,
      catalogType: 'REGULAR',
      visibleTo,
    }));
    return { as, mark, messageId: await sendUntilAcknowledged(as, { catalogs, publishDirectives }) };
  });
}

/** The catalog that every publish of a publisher adds to. */
function sharedId(as: Actor): string {
  return `${as.id}-shared`;
}

/** As a careful node does: who does not know what became of a request sends the same bytes again. */
async function sendUntilAcknowledged(as: Actor, message: object): Promise<string> {
  const context = {
    messageId: randomUUID(),
    transactionId: randomUUID(),
    timestamp: new Date().toISOString(),
  };
  for (;;) {
    const answer = await as.send(actions.publish, message, { context }).catch(() => undefined);
    if (answer?.status === 200) return context.messageId;
    if (answer && answer.status !== 503) throw new Error(`refused: ${JSON.stringify(answer.body)}`);
    await takeTime(100);
  }
}

/** How far the work is, from 0 to 1: half of it is done when all are acknowledged, all when all publishers have been told. */
function watchProgress(sending: readonly Promise<unknown>[], publishers: readonly Actor[]): () => number {
  const told = () => publishers.reduce((sum, { received }) => sum + received.length, 0);
  const toldBefore = told();
  let acknowledged = 0;
  for (const one of sending) void one.then(() => (acknowledged += 1)).catch(() => undefined);
  return () => (acknowledged + told() - toldBefore) / (2 * sending.length);
}

async function randomMoment(progress: () => number, withinMs: number): Promise<void> {
  const start = progress();
  const moment = start + Math.random() * (1 - start);
  await until(() => progress() >= moment, 'the moment', withinMs).catch(() => undefined);
}

async function expectAppliedOnce(
  { database, config }: TestNetwork,
  all: readonly Published[],
): Promise<void> {
  const { rows: submissions } = await database.query<{ id: number; messageId: string }>(
    `select id, message_id as "messageId" from catalog.submission where done_at is not null and message_id = any ($1) order by id`,
    [all.map(({ messageId }) => messageId)],
  );
  expect(submissions.map(({ messageId }) => messageId).sort()).toEqual(
    all.map(({ messageId }) => messageId).sort(),
  );

  const { rows: effects } = await database.query(
    `select count(*) as submissions, min(results) as "fewest results", max(results) as "most results",
       min(changes) as "fewest changes", max(changes) as "most changes"
     from (select
       (select count(*) from catalog.submission_result where submission_id = id and result ->> 'status' = 'ACCEPTED') as results,
       (select count(*) from catalog.change_log where submission_id = submission.id) as changes
     from catalog.submission) as each_submission`,
  );
  expect(effects).toEqual([
    {
      submissions: all.length,
      'fewest results': 2,
      'most results': 2,
      'fewest changes': 2,
      'most changes': 2,
    },
  ]);

  const orderOf = new Map(submissions.map(({ messageId }, index) => [messageId, index]));
  for (const as of new Set(all.map((published) => published.as))) {
    const own = all
      .filter((published) => published.as === as)
      .sort((one, other) => (orderOf.get(one.messageId) ?? 0) - (orderOf.get(other.messageId) ?? 0));
    const { resources } = await served(database, sharedId(as));
    const names = new Map(resources.map(({ id, descriptor }: Body) => [id, descriptor.name]));
    expect(names.get('latest')).toBe(own.at(-1)?.mark);
    expect([...names.keys()].sort()).toEqual(['latest', ...own.map(({ mark }) => mark)].sort());
    // In the order of acceptance, each once.
    const { rows: history } = await database.query(
      `select change.version from catalog.change_log as change join catalog.catalog on key = catalog_key
       where catalog.id = $1 and publisher = $2 order by submission_id`,
      [sharedId(as), identityOf(as.id, config.REGISTRY_NAME)],
    );
    expect(history).toEqual(own.map((_, index) => ({ version: index + 1 })));
  }
}

function expectSameBytes(as: Actor, messageId: string): void {
  const copies = as.received.filter(({ body }) => body.context.messageId === messageId);
  for (const { raw } of copies) expect(raw.equals(copies[0]?.raw ?? Buffer.alloc(0))).toBe(true);
}

async function expectConverged(
  network: TestNetwork,
  receivers: readonly Receiver[],
  publishers: readonly Actor[],
): Promise<void> {
  await allPushed(network, recoveryMs);
  const { rows } = await network.database.query<{ id: string; visibleTo: string[] }>(
    'select id, visible_to as "visibleTo" from catalog.catalog order by id',
  );
  expect(rows.length).toBeGreaterThan(publishers.length);
  for (const [index, receiver] of receivers.entries()) {
    const wanted = rows
      .filter(({ visibleTo }) => index === 1 || visibleTo.includes(networks[0]))
      .map(({ id }) => id);
    expect(receiver.copies).toEqual(await currentCopies(network, wanted));
  }
}

/** What was confirmed stays confirmed: also the next process leaves it alone. */
async function expectNothingSentAgain(
  { database }: TestNetwork,
  publishers: readonly Actor[],
  restart: () => Promise<void>,
): Promise<void> {
  const allConfirmed = async () => {
    const { rowCount } = await database.query(
      "select from work.callback where state <> 'delivered' union all select from work.request where open and action = 'catalog/publish'",
    );
    return rowCount === 0;
  };
  await until(allConfirmed, 'all callbacks to be confirmed', recoveryMs);
  const received = () => publishers.map((as) => as.received.length);
  const before = received();
  await restart();
  await watchFor(1_000);
  expect(received()).toEqual(before);
}
