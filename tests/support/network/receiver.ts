import { expect } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { parseEnvelope } from '../../../src/protocol/envelope.ts';
import { readCatalog } from '../../../src/storage/catalog/reader.ts';
import type { Gate } from '../gate.ts';
import { until } from '../time.ts';
import type { Actor, Body, Received, Reply } from './actor.ts';
import type { TestNetwork } from './network.ts';

// A Discovery Service that stores pushes strictly by the specification.

export interface Receiver {
  actor: Actor;
  /** Every push that arrived, answered or not. */
  pushes: Push[];
  /** Its copies: catalogs by id, their resources and offers by id. */
  copies: Map<string, Copy>;
  /** Sets the answer to the next pushes; without a reply, they are applied and answered with 200. */
  answer(reply: (push: Push) => Reply | undefined | Promise<Reply | undefined>): void;
  subscribe(subscription: object): Promise<string>;
  /** The pushes of a catalog so far, once there are `count`. */
  waitFor(catalogId: string, count: number): Promise<Push[]>;
}

export interface Push {
  received: Received;
  catalogId: string;
  updateMode: string;
  visibleTo: string[];
  timestamp: string;
  catalog: Body;
  resourceIds: string[];
  offerIds: string[];
}

export interface Copy {
  head: Record<string, unknown>;
  resources: Record<string, unknown>;
  offers: Record<string, unknown>;
}

/** Holds back all answers until the gate is open; returns the largest number of pushes that waited at the same time. */
export function holdBack(receiver: Receiver, { passed }: Gate): () => number {
  let [underWay, most] = [0, 0];
  receiver.answer(async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await passed;
    underWay -= 1;
    return undefined;
  });
  return () => most;
}

export async function startReceiver(
  network: TestNetwork,
  name: string,
  registration?: Parameters<TestNetwork['actor']>[1],
): Promise<Receiver> {
  const actor = await network.actor(name, registration);
  const pushes: Push[] = [];
  const copies = new Map<string, Copy>();
  let reply: Parameters<Receiver['answer']>[0] = () => undefined;

  actor.behave(async (received) => {
    if (received.action !== actions.push.name) return undefined;
    const push = read(received);
    const earlier = pushes.findLast(({ catalogId }) => catalogId === push.catalogId);
    pushes.push(push);
    if (earlier && push.timestamp <= earlier.timestamp)
      throw new Error('context.timestamp did not rise from one push to the next');
    const answer = await reply(push);
    if ((answer?.status ?? 200) === 200 && !answer?.body) apply(copies, push);
    return answer;
  });

  return {
    actor,
    pushes,
    copies,
    answer: (next) => {
      reply = next;
    },
    async subscribe(subscription) {
      const { status, body } = await actor.send(actions.subscribe, { subscription });
      expect(status).toBe(200);
      return body.message.subscriptions[0].subscriptionId;
    },
    async waitFor(catalogId, count) {
      const those = () => pushes.filter((push) => push.catalogId === catalogId);
      await until(() => those().length >= count, `${count} pushes of ${catalogId} to ${name}`);
      return those();
    },
  };
}

function read(received: Received): Push {
  const { context, message } = parseEnvelope(received.raw, actions.push, new Date());
  const [catalog, ...otherCatalogs] = message.catalogs;
  const [directive, ...otherDirectives] = message.publishDirectives ?? [];
  if (!catalog || !directive || otherCatalogs.length > 0 || otherDirectives.length > 0)
    throw new Error('a push has one catalog and one directive');
  return {
    received,
    catalogId: catalog.id,
    updateMode: directive.updateMode ?? '',
    visibleTo: directive.visibleTo ?? [],
    timestamp: context.timestamp,
    catalog,
    resourceIds: catalog.resources?.map(({ id }) => id) ?? [],
    offerIds: catalog.offers?.map(({ id }) => id) ?? [],
  };
}

/** Catalog spec, publishDirectives: MERGE upserts by id, FULL replaces the whole catalog. */
function apply(copies: Map<string, Copy>, { catalogId, updateMode, catalog }: Push): void {
  const news = toCopy(catalog);
  const held = updateMode === 'MERGE' ? copies.get(catalogId) : undefined;
  copies.set(catalogId, {
    head: { ...held?.head, ...news.head },
    resources: { ...held?.resources, ...news.resources },
    offers: { ...held?.offers, ...news.offers },
  });
}

function toCopy({ resources = [], offers = [], ...head }: Body): Copy {
  const byId = (items: { id: string }[]) => Object.fromEntries(items.map((item) => [item.id, item]));
  return { head, resources: byId(resources), offers: byId(offers) };
}

/** The service's catalogs with these ids. */
export async function currentCopies(
  { database }: TestNetwork,
  catalogIds: readonly string[],
): Promise<Map<string, Copy>> {
  const { rows } = await database.query<{ key: number; id: string }>(
    'select key, id from catalog.catalog where id = any($1)',
    [catalogIds],
  );
  const copies = new Map<string, Copy>();
  for (const { key, id } of rows) {
    let text = '';
    for await (const piece of readCatalog(database, key)) text += piece;
    copies.set(id, toCopy(JSON.parse(text)));
  }
  return copies;
}

/** Waits until every change has been planned and no push is due. */
export async function allPushed(network: TestNetwork, timeoutMs?: number): Promise<void> {
  await until(() => areAllPushed(network), 'all pushes to be settled', timeoutMs);
}

export async function areAllPushed({ database }: TestNetwork): Promise<boolean> {
  const { rows } = await database.query<{ open: boolean }>(
    `select exists (select from catalog.push where due_at is not null)
       or exists (select from catalog.change_log where seq is null or seq > (select seq from catalog.push_cursor)) as open`,
  );
  return rows[0]?.open === false;
}
