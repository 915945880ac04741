import { afterAll, beforeAll, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { endLeases } from '../support/database/leases.ts';
import type { Received } from '../support/network/actor.ts';
import { filter, hold } from '../support/network/discover.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { refuseWhatIsClosed } from '../support/peers/closed-consumer.ts';
import { hopeless, isAccepted, loose, sentTo } from '../support/peers/closed-receivers.ts';
import { prepareDiscovery } from '../support/processes/discovery-process.ts';
import type { ServiceProcess } from '../support/processes/service-process.ts';
import { until } from '../support/time.ts';

// A discovery service is killed (kill -9) between the sends of one on_discover: nothing is lost, and repeated sends have the same content.

/** No answer. */
const never = new Promise<undefined>(() => undefined);

let network: TestNetwork;
let start: () => Promise<ServiceProcess>;
let running: ServiceProcess;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry' } });
  start = await prepareDiscovery(network, {});
  running = await start();
  const found = (content: object, index: number) => ({
    ...{ id: `c-${index}`, resources: [{ id: `r-${index}`, kind: 'tea' }], ...content },
  });
  await hold(network.database, [{}, loose, hopeless, {}].map(found));
});
afterAll(async () => {
  await running?.stop();
  await network?.close();
});

it.each([
  ['in strict form', 2],
  ['of the first half', 3],
  ['of the second half', 4],
])(
  'A process that is killed before the answer to the send %s is followed by one that delivers all',
  async (what, killedAt) => {
    const consumer = await network.actor(`consumer-${killedAt}`);
    const refuse = refuseWhatIsClosed({ path: 'none' });
    const seen: Received[] = [];
    consumer.behave((received) => {
      seen.push(received);
      return seen.length === killedAt ? never : refuse(received);
    });
    const message = filter("$.catalogs[*].resources[?@.kind == 'tea']");
    const { messageId } = await consumer.send(actions.discover, message, { to: running.url });
    await until(() => seen.length === killedAt, `the send ${what}`);
    await running.kill();
    await endLeases(network.database);
    running = await start();
    const { delivery } = await sentTo(network, consumer, messageId);
    expect(delivery).toMatchObject({ state: 'delivered', form: 'strict' });

    // The same bodies, from the beginning.
    const again = seen.slice(killedAt);
    expect(again.slice(0, killedAt).map(({ raw }) => raw)).toEqual(
      seen.slice(0, killedAt).map(({ raw }) => raw),
    );
    expect(new Set(seen.map(({ body }) => body.context.messageId))).toEqual(new Set([messageId]));
    const arrived = again.filter(isAccepted).flatMap(({ body }) => body.message.catalogs);
    expect(arrived.map(({ id }: { id: string }) => id).sort()).toEqual(['c-0', 'c-1', 'c-3']);
  },
);
