import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Action, actions } from '../../../src/protocol/actions.ts';
import { catalog, plain } from '../../support/catalogs/sample-catalogs.ts';
import type { Actor, Exchange } from '../../support/network/actor.ts';
import { filter, startDiscovering } from '../../support/network/discover.ts';
import { defaultNetwork, type TestNetwork } from '../../support/network/network.ts';
import { subscribe } from '../../support/network/subscriptions.ts';
import { refuseNamelessCallers } from '../../support/peers/closed-consumer.ts';

// Requests as half of the nodes in the field send them: without the sender's id or address. The signature identifies the sender, and the registry has
// the address for callbacks.

let network: TestNetwork;
/** Its adapter refuses a callback whose context does not name the caller. */
let peer: Actor;
/** Has no url in the registry. */
let homeless: Actor;

beforeAll(async () => {
  const discovering = await startDiscovering();
  network = discovering.network;
  await discovering.hold([{ id: 'cups', resources: [{ id: 'cup' }] }]);
  peer = await network.actor('onix-peer');
  peer.behave(refuseNamelessCallers);
  homeless = await network.actor('homeless', { url: null });
});
afterAll(() => network?.close());

interface Asking {
  action: Action;
  side: 'bpp' | 'bap';
  callback: string;
  to(): string;
  message(as: Actor): Promise<object>;
}

const askings: Asking[] = [
  {
    ...{ action: actions.publish, side: 'bpp', callback: 'catalog/on_publish', to: () => network.catalogUrl },
    message: async (as) => ({ catalogs: [catalog(`of-${as.id}`, { resources: [plain('a')] })] }),
  },
  {
    ...{ action: actions.pull, side: 'bap', callback: 'catalog/on_pull', to: () => network.catalogUrl },
    message: async (as) => ({ subscriptionId: await subscribe(as, { networkIds: [defaultNetwork] }) }),
  },
  {
    ...{ action: actions.discover, side: 'bap', callback: 'on_discover', to: () => network.discoveryUrl },
    message: async () => filter('$.catalogs[*].resources[*]'),
  },
];

describe.each(askings)('$action.name', ({ action, side, callback, to, message }) => {
  const id = `${side}Id`;
  const uri = `${side}Uri`;

  async function ask(as: Actor, context: Record<string, unknown>): Promise<Exchange> {
    return as.send(action, await message(as), { to: to(), context });
  }

  it.each([
    ['id and address', [id, uri]],
    ['id', [id]],
    ['address', [uri]],
  ])(
    'without its own %s is answered at its registered address, with both in the context',
    async (_what, left) => {
      const { status, messageId } = await ask(
        peer,
        Object.fromEntries(left.map((name) => [name, undefined])),
      );
      expect(status).toBe(200);
      const { body } = await peer.waitFor(callback, messageId);
      expect(body.context).toMatchObject({ [id]: peer.id, [uri]: peer.url });
    },
  );

  it.each([null, ''])('CTX_INVALID_FIELD: its own id or address is %j', async (value) => {
    for (const name of [id, uri])
      expect((await ask(peer, { [name]: value })).body.message.error).toMatchObject({
        code: 'CTX_INVALID_FIELD',
        details: { path: `$.context.${name}` },
      });
  });

  it('CTX_MISSING_FIELD: without its own address, and the registry has none', async () => {
    const { status, body } = await ask(homeless, { [id]: undefined, [uri]: undefined });
    expect([status, body.message.error]).toEqual([
      400,
      {
        code: 'CTX_MISSING_FIELD',
        message: expect.stringContaining('has no url'),
        details: { path: `$.context.${uri}` },
      },
    ]);
    expect((await ask(homeless, { [id]: undefined })).status).toBe(200);
  });
});

it('a published catalog without bppId and bppUri has those of the request that named none', async () => {
  const messageOf = askings[0]?.message;
  const { status, messageId } = await peer.send(actions.publish, await messageOf?.(peer), {
    context: { bppId: undefined, bppUri: undefined },
  });
  expect(status).toBe(200);
  await peer.waitFor('catalog/on_publish', messageId);
  const { body } = await peer.send(actions.search, { filters: { type: 'REGULAR' } });
  expect(body.message.catalogs).toContainEqual(expect.objectContaining({ bppId: peer.id, bppUri: peer.url }));
});
