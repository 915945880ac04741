import { randomUUID } from 'node:crypto';
import { type Action, actions } from '../../src/protocol/actions.ts';
import { feedTable } from '../../src/storage/feeds/feeds.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import { rouse } from '../support/hosted/crawl.ts';
import type { Actor } from '../support/network/actor.ts';
import { filter, resourceIds } from '../support/network/discover.ts';
import { takeTime, until } from '../support/time.ts';
import type { FaultRun } from './fault-run.ts';
import { publishedNetwork, type World } from './world.ts';

// The work during a fault, all at once: publishers publish, the catalog service processes and pushes, the discovery service receives pushes, pulls
// and crawls, and a consumer searches. All are careful nodes: without an answer, they send the same bytes again.

export interface Work {
  /** Name of the published catalogs. */
  name: string;
  /** Acknowledged publishes. */
  published: Published[];
  /** Acknowledged searches, by their messageId. */
  searched: string[];
  /** The last published state of the nodes: names of resources by catalog. */
  hosted: Map<string, Record<string, string>>;
}

export interface Published {
  as: Actor;
  messageId: string;
  /** Names the resource of this publish. */
  mark: string;
}

export interface WorkOptions {
  /** How often the fault strikes. */
  rounds: number;
  /** Per publisher and round, all at once. */
  publishes: number;
  /** Starts and ends the fault; resolves with the moment of its end. */
  strike(world: World): Promise<number>;
  /** The first success after the fault; by default, a new publish and a new search, both with their callbacks. */
  succeed?(world: World, work: Work): Promise<unknown>;
  /** Runs after the first success. */
  heal?(world: World): Promise<void>;
}

const strikeWithinMs = 3_000;
/** Connections to a process that hangs get no answer. */
const answerWithinMs = 5_000;

/** The fault strikes once per round, at a random moment of the work. */
export async function workThrough(world: World, run: FaultRun, options: WorkOptions): Promise<Work> {
  const work: Work = { name: run.name, published: [], searched: [], hosted: new Map() };
  await beginWork(world, work);
  for (let round = 1; round <= options.rounds; round += 1) {
    let isOver = false;
    const searching = whileOn(
      () => !isOver,
      () => search(world, work),
    );
    searching.catch(() => undefined); // awaited below
    const before = told(world);
    const publishes = options.publishes * world.publishers.length;
    const sending = Promise.all([
      ...world.publishers.flatMap((as) =>
        Array.from({ length: options.publishes }, (_, index) =>
          publish(world, work, as, `${work.name}-${round}-${index}`),
        ),
      ),
      ...world.nodes.map((_, index) => host(world, work, index, round)),
    ]);
    sending.catch(() => undefined); // awaited below
    await lookAround(world);
    const moment = before + run.between(0, publishes);
    await until(() => told(world) >= moment, 'the moment', strikeWithinMs).catch(() => undefined);
    await takeTime(run.between(0, 100));
    run.count();
    const endedAt = await options.strike(world);
    await run.recover(endedAt, () => (options.succeed ?? succeed)(world, work));
    await options.heal?.(world);
    await sending;
    isOver = true;
    await searching;
  }
  return work;
}

/** A publish with its on_publish, and a search with its on_discover. */
async function succeed(world: World, work: Work): Promise<void> {
  const messageId = await publish(world, work, world.probe, `${work.name}-${work.published.length}`);
  await world.probe.waitFor('catalog/on_publish', messageId);
  await world.consumer.waitFor('on_discover', await search(world, work));
}

async function beginWork(world: World, work: Work): Promise<void> {
  const lamp = { ...plain('lamp'), state: 'on' };
  const visibleTo = [publishedNetwork];
  await sendUntilAcknowledged(world, world.probe, actions.publish, world.network.catalogUrl, {
    catalogs: [catalog('lamps', { resources: [lamp] })],
    publishDirectives: [{ catalogId: 'lamps', catalogType: 'REGULAR', visibleTo }],
  });
  await Promise.all(world.nodes.map((_, index) => host(world, work, index, 0)));
  await until(async () => {
    const { status } = await world.consumer.send(actions.discover, findLamp, {
      to: world.network.discoveryUrl,
    });
    return status === 200;
  }, 'the first catalog to be found');
}

async function publish(world: World, work: Work, as: Actor, mark: string): Promise<string> {
  const catalogs = [
    catalog(sharedId(as), { resources: [plain('latest', mark), plain(mark)] }),
    catalog(ownId(as, mark), { resources: [plain('a'), plain('b')] }),
  ];
  const visibleTo = [publishedNetwork];
  const publishDirectives = catalogs.map(({ id }) => ({ catalogId: id, catalogType: 'REGULAR', visibleTo }));
  const message = { catalogs, publishDirectives };
  const messageId = await sendUntilAcknowledged(
    world,
    as,
    actions.publish,
    world.network.catalogUrl,
    message,
  );
  work.published.push({ as, messageId, mark });
  return messageId;
}

/** The catalog that all publishes of a publisher add to. */
export function sharedId(as: Actor): string {
  return `${as.id}-shared`;
}

/** The catalog of one publish. */
export function ownId(as: Actor, mark: string): string {
  return `${as.id}-${mark}`;
}

const findLamp = filter('$.catalogs[*].resources[?@.state == "on"]');

async function search(world: World, work: Work): Promise<string> {
  const { consumer, network } = world;
  const messageId = await sendUntilAcknowledged(
    world,
    consumer,
    actions.discover,
    network.discoveryUrl,
    findLamp,
  );
  work.searched.push(messageId);
  return messageId;
}

/** Whether a search was answered correctly. */
export function isAnswered({ consumer }: World, messageId: string): boolean {
  const answer = consumer.received.find(({ body }) => body.context.messageId === messageId);
  return answer !== undefined && resourceIds(answer.body).join() === 'lamp';
}

async function host(world: World, work: Work, index: number, round: number): Promise<void> {
  const id = `hosted-${index}`;
  const names = { latest: `${round} of ${work.name}`, [`r${round}`]: `of ${round}` };
  const resources = Object.entries(names).map(([resource, name]) => plain(resource, name));
  const { results } =
    (await world.nodes[index]?.publish({ message: { catalogs: [catalog(id, { resources })] } })) ?? {};
  if (results?.[0]?.status !== 'ACCEPTED') throw new Error(`${id} was not accepted`);
  work.hosted.set(id, names);
}

/** The discovery service pulls and crawls everything now, not on schedule. */
export async function lookAround({ network: { database } }: World): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('update discovery.feed set pull_at = now(), due_at = now() where configured');
    tx.hint(feedTable);
  });
  await rouse(database);
}

async function sendUntilAcknowledged(
  { passing }: World,
  as: Actor,
  action: Action,
  to: string,
  message: object,
): Promise<string> {
  const [messageId, transactionId] = [randomUUID(), randomUUID()];
  const context = { messageId, transactionId, timestamp: new Date().toISOString() };
  for (;;) {
    const sent = as.send(action, message, { to, context, headers: { connection: 'close' } });
    const answer = await Promise.race([sent.catch(() => undefined), takeTime(answerWithinMs)]);
    if (answer?.status === 200) return messageId;
    if (answer && !passing.has(answer.status))
      throw new Error(`${action.name} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    await takeTime(100);
  }
}

async function whileOn(isOn: () => boolean, act: () => Promise<unknown>): Promise<void> {
  while (isOn()) {
    await act();
    await takeTime(50);
  }
}

/** The number of callbacks to publishers. */
function told({ publishers }: World): number {
  return publishers.reduce((sum, { received }) => sum + received.length, 0);
}
