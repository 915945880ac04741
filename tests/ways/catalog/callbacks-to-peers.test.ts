import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Action, actions } from '../../../src/protocol/actions.ts';
import { signRequest } from '../../../src/protocol/request-signature.ts';
import { catalog } from '../../support/catalogs/sample-catalogs.ts';
import type { Actor } from '../../support/network/actor.ts';
import { type Discovering, startDiscovering } from '../../support/network/discover.ts';
import type { TestNetwork } from '../../support/network/network.ts';
import { subscribe } from '../../support/network/subscriptions.ts';
import { refuseWhatIsClosed } from '../../support/peers/closed-consumer.ts';
import {
  chainDemanded,
  keyUnknown,
  type Peer,
  type PeerShape,
  startPeer,
  threeLinesOnly,
  wholeHeaderChained,
} from '../../support/peers/peer-receivers.ts';
import { until } from '../../support/time.ts';

// Callbacks reach deployed peers, whichever form of signature they verify (catalog spec: Authentication, "callback chain: not shown").

let network: TestNetwork;
let hold: Discovering['hold'];
const peers: Peer[] = [];

beforeAll(async () => {
  ({ network, hold } = await startDiscovering());
});
afterAll(async () => {
  for (const peer of peers) peer.close();
  await network?.close();
});

interface Joined {
  peer: Peer;
  actor: Actor;
}

/** A participant whose registered address is a receiver with that behaviour. */
async function join(name: string, shape: PeerShape): Promise<Joined> {
  const peer = await startPeer(shape, async (subscriberId, recordId) => {
    const lookup = await network.registry.findKey(subscriberId, recordId);
    return lookup.kind === 'key' ? lookup.publicKey : undefined;
  });
  peers.push(peer);
  return { peer, actor: await network.actor(name, { url: peer.url }) };
}

/** Publishes like the peer; returns the attempts to answer it, up to the accepted one. */
async function publish(joined: Joined, id: string): Promise<Peer['attempts']> {
  return accepted(joined, await submit(joined, id));
}

const submit = (joined: Joined, id: string) =>
  ask(joined, actions.publish, { catalogs: [catalog(id)] }, network.catalogUrl);

/** The attempts, up to the accepted one, once its sender has also read that answer: only then does it know the form. */
async function accepted({ actor }: Joined, those: () => Peer['attempts']): Promise<Peer['attempts']> {
  await until(async () => {
    const messageIds = those().map(({ messageId }) => messageId);
    const { rows } = await network.database.query(
      "select from work.callback where message_id = any ($1) and state = 'delivered'",
      [messageIds],
    );
    return rows.length > 0;
  }, `the callback to ${actor.id}`);
  return those();
}

/** Sends a request like the peer; returns a function that lists the attempts to answer it. */
async function ask(
  { peer, actor }: Joined,
  action: Action,
  message: object,
  to: string,
): Promise<() => Peer['attempts']> {
  const messageId = randomUUID();
  const caller =
    action === actions.publish
      ? { bppId: actor.id, bppUri: peer.url }
      : { bapId: actor.id, bapUri: peer.url };
  const context = {
    ...{ version: '2.0.0', action: action.name, messageId, transactionId: 't' },
    ...{ timestamp: new Date().toISOString(), ...caller },
  };
  const raw = Buffer.from(JSON.stringify({ context, message }));
  const authorization = signRequest(actor.key, raw, { now: new Date() });
  peer.keep(action.name, messageId, authorization);
  const answer = await actor.send(action, undefined, { raw, headers: { authorization }, to });
  expect(answer.status).toBe(200);
  return () => peer.attempts.filter((attempt) => attempt.messageId === messageId);
}

const linesOf = (attempts: Peer['attempts']) => attempts.map(({ lines, status }) => [lines, status]);

const deployed: [what: string, PeerShape][] = [
  ['verifies three lines only', threeLinesOnly],
  ['chains the whole Authorization value and looks under another action', wholeHeaderChained],
];

describe('on_publish', () => {
  it.each(deployed)(
    'reaches a peer that %s, at once, and the next time with the first attempt',
    async (what, shape) => {
      const joined = await join(`peer-${what.slice(0, 6)}`.replace(' ', ''), shape);
      const first = await publish(joined, `first-${joined.actor.id}`);
      expect(linesOf(first)).toEqual([
        [4, 401],
        [3, 200],
      ]);
      expect(first[1]?.raw).toEqual(first[0]?.raw);
      expect(linesOf(await publish(joined, `second-${joined.actor.id}`))).toEqual([[3, 200]]);
      await network.restart();
      expect(linesOf(await publish(joined, `third-${joined.actor.id}`))).toEqual([[3, 200]]);
    },
  );

  it('reaches a peer that demands the chain, also when it did not before', async () => {
    const joined = await join('strict', chainDemanded);
    expect(linesOf(await publish(joined, 'strict-1'))).toEqual([[4, 200]]);
    joined.peer.shape = threeLinesOnly;
    await publish(joined, 'strict-2');
    joined.peer.shape = chainDemanded;
    expect(linesOf(await publish(joined, 'strict-3'))).toEqual([
      [3, 401],
      [4, 200],
    ]);
    expect(linesOf(await publish(joined, 'strict-4'))).toEqual([[4, 200]]);
  });

  it('that is refused in both forms is repeated, and teaches nothing about the form', async () => {
    const joined = await join('late-key', keyUnknown);
    const attempts = await submit(joined, 'late-1');
    await until(() => attempts().length >= 4, 'a second attempt');
    joined.peer.shape = chainDemanded;
    await until(() => attempts().some(({ status }) => status === 200), 'on_publish after the key is known');
    const accepted = attempts().at(-1);
    expect(linesOf(attempts().slice(0, 4))).toEqual([4, 3, 4, 3].map((lines) => [lines, 401]));
    expect(accepted).toMatchObject({ lines: 4, status: 200 });
    expect(new Set(attempts().map(({ raw }) => raw.toString())).size).toBe(1);
    expect(linesOf(await publish(joined, 'late-2'))).toEqual([[4, 200]]);
  });
});

describe.each(deployed)('to a peer that %s,', (what, shape) => {
  const bothForms = [
    [4, 401],
    [3, 200],
  ];

  it('on_pull is sent in the other form at once', async () => {
    const joined = await join(`puller-${what.slice(0, 6)}`.trim(), shape);
    const subscriptionId = await subscribe(joined.actor, { networkIds: ['pulled.example/net'] });
    const those = await ask(joined, actions.pull, { subscriptionId }, network.catalogUrl);
    expect(linesOf(await accepted(joined, those))).toEqual(bothForms);
  });

  it('on_discover is sent in the other form at once', async () => {
    const joined = await join(`shopper-${what.slice(0, 6)}`.trim(), shape);
    await hold([{ id: 'tea', resources: [{ id: 'oolong', descriptor: { name: 'Oolong' } }] }]);
    const message = { intent: { textSearch: 'oolong' } };
    const those = await ask(joined, actions.discover, message, network.discoveryUrl);
    const attempts = await accepted(joined, those);
    expect(linesOf(attempts)).toEqual(bothForms);
    expect(attempts[1]?.raw).toEqual(attempts[0]?.raw);
  });

  it('and whose schemas are closed, on_discover is sent in both other forms at once, and both are remembered', async () => {
    const joined = await join(`closed-${what.slice(0, 6)}`.trim(), shape);
    joined.peer.refuse = refuseWhatIsClosed();
    const descriptor = { name: 'Assam', short_desc: 'strong' };
    await hold([{ id: 'black-tea', resources: [{ id: 'assam', descriptor }] }]);
    const message = { intent: { textSearch: 'assam' } };
    const attempts = async () =>
      linesOf(await accepted(joined, await ask(joined, actions.discover, message, network.discoveryUrl)));
    expect(await attempts()).toEqual([
      [4, 401],
      [3, 400],
      [3, 200],
    ]);
    expect(await attempts()).toEqual([[3, 200]]);
  });
});
