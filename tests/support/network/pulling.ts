import type { Actor, Body, Received } from './actor.ts';
import { startDiscovery, type TestDiscovery, withoutDiscovery } from './discovery.ts';
import { startNetwork, type TestNetwork } from './network.ts';
import { type PlayedService, playService } from './played-service.ts';

// A discovery service that pulls from a catalog service played by the test, which answers correctly or wrongly.

export const retail = 'a.example/retail';

export const completed = (catalogs: Body[], pagination?: object) => ({
  status: 'COMPLETED',
  catalogs,
  pagination,
});

export interface Pulling {
  network: TestNetwork;
  service: PlayedService;
  /** A participant that was not asked. */
  stranger: Actor;
  discovery: TestDiscovery;
  /** Sets the answers to the next pulls, in order; later pulls are answered correctly. */
  answerWith(...answers: ((pull: Received) => Promise<unknown>)[]): void;
  /** Answers everything correctly from now on; waits until no pull is under way. */
  calm(): Promise<void>;
  close(): Promise<void>;
}

export async function startPulling(): Promise<Pulling> {
  const network = await startNetwork({ settings: withoutDiscovery });
  const service = await playService(network, 'service', () => discovery.url);
  const stranger = await network.actor('stranger');
  const discovery = await startDiscovery(network, [{ catalogUrl: service.actor.url, networkIds: [retail] }]);
  await discovery.settled();
  return {
    network,
    service,
    stranger,
    discovery,
    answerWith(...answers) {
      service.onPull = async (pull) => {
        const next = answers.shift();
        if (answers.length === 0) service.onPull = undefined;
        await next?.(pull);
      };
    },
    async calm() {
      service.onPull = undefined;
      service.reply = undefined;
      await discovery.settled();
    },
    async close() {
      await discovery.stop();
      await network.close();
    },
  };
}
