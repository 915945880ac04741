import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { takeTime } from '../time.ts';
import type { Actor, Body, Exchange, Received, Reply, SendOptions } from './actor.ts';
import type { TestNetwork } from './network.ts';

// A catalog service played by a test: it accepts every subscription, has no masters by default, and answers pulls with its catalogs, or wrongly if
// the test says so.

export interface PlayedService {
  actor: Actor;
  identity: string;
  /** Catalogs that a pull finds. */
  catalogs: Body[];
  masters: Body[];
  /** Its subscriptions, by id. */
  subscriptions: Map<string, Body>;
  /** Every request that read a subscription. */
  looks: Received[];
  /** Every pull that it received. */
  pulls: Received[];
  /** The answer to the next pulls, after their acknowledgement; by default the catalogs. */
  onPull: ((pull: Received) => Promise<void>) | undefined;
  /** The immediate answer to requests; by default the usual one. */
  reply: ((received: Received) => Reply | undefined) | undefined;
  /** Sends an on_pull for a pull, chained and with its digest by default. */
  answer(pull: Received, message: object, options?: AnswerOptions): Promise<Exchange>;
  push(catalogs: Body[], directive?: Body, options?: SendOptions): Promise<Exchange>;
}

export interface AnswerOptions extends SendOptions {
  as?: Actor;
  unchained?: boolean;
  digest?: string | null;
}

export async function playService(
  network: TestNetwork,
  name: string,
  to: () => string,
): Promise<PlayedService> {
  const actor = await network.actor(name);
  const played: PlayedService = {
    actor,
    identity: `${actor.id}/${network.config.REGISTRY_NAME}`,
    catalogs: [],
    masters: [],
    subscriptions: new Map(),
    looks: [],
    pulls: [],
    onPull: undefined,
    reply: undefined,
    async answer(pull, message, { as = actor, unchained, digest, ...options } = {}) {
      const requestDigest = digest === null ? undefined : { digest: digest ?? bodyDigest(pull.raw) };
      const { messageId, transactionId, bapId, bapUri } = pull.body.context;
      return as.send(actions.onPull, message, {
        // Like a real service. Also, the pull may arrive before the test knows the discovery service that it has started.
        to: bapUri,
        answering: unchained ? undefined : pull.signature,
        ...options,
        context: { messageId, transactionId, bapId, bapUri, requestDigest, ...options.context },
      });
    },
    push: (catalogs, directive = {}, options = {}) =>
      actor.send(
        actions.push,
        {
          catalogs,
          publishDirectives: catalogs.map(({ id }) => ({
            catalogId: id,
            catalogType: 'REGULAR',
            updateMode: 'FULL',
            ...directive,
          })),
        },
        { to: to(), ...options },
      ),
  };
  actor.behave((received) => {
    const special = played.reply?.(received);
    if (special) return special;
    const {
      messageId = randomUUID(),
      transactionId = randomUUID(),
      timestamp = new Date().toISOString(),
    } = received.body.context;
    const context = { version: '2.0.0', messageId, transactionId, timestamp };
    if (received.action === actions.subscribe.name) {
      if (received.method === 'GET') played.looks.push(received);
      const subscriptions = received.method === 'POST' ? [subscribe(received, timestamp)] : named(received);
      return {
        status: 200,
        body: { context: { ...context, action: 'catalog/on_subscription' }, message: { subscriptions } },
      };
    }
    if (received.action === actions.search.name) {
      const { limit, offset } = received.body.message;
      const message = {
        catalogs: played.masters.slice(offset, offset + limit),
        pagination: { total: played.masters.length, limit, offset },
      };
      return { status: 200, body: { context: { ...context, action: 'catalog/on_search' }, message } };
    }
    if (received.action === actions.pull.name) {
      played.pulls.push(received);
      // Usually after the acknowledgement.
      void takeTime(20)
        .then(() => (played.onPull ?? answerWell)(received))
        .catch(() => undefined);
    }
    return undefined;
  });

  function subscribe({ body }: Received, timestamp: string): Body {
    const { networkIds, schemaTypes } = body.message.subscription;
    const subscription = {
      ...{ subscriptionId: randomUUID() as string, status: 'ACTIVE', networkIds, schemaTypes },
      ...{ createdAt: timestamp, updatedAt: timestamp },
    };
    played.subscriptions.set(subscription.subscriptionId, subscription);
    return subscription;
  }

  /** The subscription that the query names; a DELETE has deactivated it. */
  function named({ method, path }: Received): Body[] {
    const id = new URL(path, actor.url).searchParams.get('subscriptionId') ?? '';
    const found = played.subscriptions.get(id);
    if (found && method === 'DELETE') found.status = 'INACTIVE';
    return found ? [found] : [];
  }

  async function answerWell(pull: Received): Promise<void> {
    const { limit, offset } = pull.body.message;
    const { status } = await played.answer(pull, {
      status: 'COMPLETED',
      catalogs: played.catalogs.slice(offset, offset + limit),
      pagination: { total: played.catalogs.length, limit, offset },
    });
    expect(status).toBe(200);
  }
  return played;
}
