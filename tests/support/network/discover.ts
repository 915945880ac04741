import { expect } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import { type IncomingCatalog, writeIndex } from '../../../src/search/port.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { Actor, Body, Exchange } from './actor.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from './network.ts';

// A consumer that searches, and catalogs to find.

export interface Discovering {
  network: TestNetwork;
  consumer: Actor;
  /** Writes catalogs into the index, through its only entry point. */
  hold(catalogs: (Partial<Catalog> & { id: string })[], options?: Partial<IncomingCatalog>): Promise<void>;
  discover(message: object, context?: object): Promise<Exchange>;
  /** Resolves with the on_discover. */
  found(message: object, context?: object): Promise<Body>;
}

export async function startDiscovering(options?: Parameters<typeof startNetwork>[0]): Promise<Discovering> {
  const network = await startNetwork(options);
  const consumer = await network.actor('shopper');
  const discover: Discovering['discover'] = (message, context = {}) =>
    consumer.send(actions.discover, message, { to: network.discoveryUrl, context: { ...context } });
  return {
    network,
    consumer,
    hold: (catalogs, options) => hold(network.database, catalogs, options),
    discover,
    async found(message, context = {}) {
      const answer = await discover(message, context);
      expect(answer).toMatchObject({
        status: 200,
        body: { message: { status: 'ACK' } },
        answerSigned: true,
      });
      return (await consumer.waitFor('on_discover', answer.messageId)).body;
    },
  };
}

/** Writes catalogs into the index, through its only entry point. */
export async function hold(
  database: Database,
  catalogs: (Partial<Catalog> & { id: string })[],
  options: Partial<IncomingCatalog> = {},
): Promise<void> {
  await database.transaction((tx) =>
    writeIndex(tx, new Date(), ({ apply }) =>
      apply(
        catalogs.map((given) => ({
          source: 'service:catalog.signpost.test/subscribers.beckn.one',
          owner: 'provider.signpost.test/subscribers.beckn.one',
          type: 'REGULAR',
          networks: [defaultNetwork],
          mode: 'FULL',
          catalog: {
            descriptor: { name: `Catalog ${given.id}` },
            provider: { id: `provider of ${given.id}`, descriptor: { name: 'Provider' } },
            ...given,
          } as Catalog,
          ...options,
        })),
      ),
    ),
  );
}

export function filter(expression: string): object {
  return { intent: { filters: { type: 'jsonpath', expression } } };
}

export function resourceIds({ message }: Body): string[] {
  return message.catalogs.flatMap((catalog: Body) => catalog.resources.map(({ id }: Body) => id));
}
