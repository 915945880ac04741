import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Spoiler } from '../../support/hosted/tampering-proxy.ts';
import type { Actor, Interference } from '../../support/network/actor.ts';
import { takeTime } from '../../support/time.ts';
import { type FaultRun, faultOptions, strikes } from '../fault-run.ts';
import { judge } from '../oracle.ts';
import { workThrough } from '../work.ts';
import { startWorld, type World } from '../world.ts';

// A registry that is down, slow or lying, and receivers that are down, slow, or answer wrongly in any way, while everything else continues. Keys are
// cached for a second here, so that the registry is asked all the time. A key from a lying registry is cached as long as the registry said, at most
// five minutes.

let world: World;
beforeAll(async () => {
  world = await startWorld({ ttlSeconds: 1 });
});
afterAll(() => world?.close());

const seconds = 1_000;
/** Longer than the services wait for the registry. */
const slowRegistryMs = 6 * seconds;

const lies: Record<string, (world: World) => Spoiler> = {
  'is down': () => (_, __, response) => {
    response.destroy();
    return 'taken';
  },
  'is slow': () => async () => {
    await takeTime(slowRegistryMs);
    return undefined;
  },
  'answers garbage': () => () => ({ status: 200, body: Buffer.from('<html>Welcome!</html>') }),
  'names other keys':
    ({ probe, consumer }) =>
    (path, { body }) => {
      const other = path.includes(probe.id) ? consumer : probe;
      const known = [probe, consumer, ...world.publishers].map(({ publicKey }) => publicKey);
      const text = known.reduce((said, key) => said.replaceAll(key, other.publicKey), body.toString('utf8'));
      return { body: Buffer.from(text) };
    },
  'answers with the records of others':
    ({ network, receiver }) =>
    async (path) => {
      const [, ...rest] = path.split('/lookup/');
      if (rest.length === 0) return undefined;
      const of = path.replace(/lookup\/[^/]+/, `lookup/${receiver.actor.id}`);
      const answer = await fetch(`http://127.0.0.1:${network.config.REGISTRY_PORT}${of}`);
      return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
    },
};

describe('a registry that', () => {
  it.for(Object.keys(lies))(
    '%s costs nothing that was acknowledged, and nothing is applied twice',
    faultOptions,
    (fault, context) =>
      strikes(`registry ${fault}`, (run) =>
        strikePeers(run, async () => {
          // Senders that are refused meanwhile send the same message again.
          world.passing.add(401);
          world.registryProxy.spoil(lies[fault]?.(world));
          await takeTime(run.between(1, 3) * seconds);
          world.registryProxy.spoil();
        }),
      )(context),
  );
});

const answers: Record<string, Interference> = {
  'are slow': async () => {
    await takeTime(2 * seconds);
    return undefined;
  },
  'answer garbage': async (socket) => {
    socket.end('Lorem ipsum dolor sit amet\r\n\r\n');
    return 'taken';
  },
  'close early': async (socket) => {
    socket.destroy();
    return 'taken';
  },
  'never close': async (socket) => {
    // Sends a status line byte by byte, without end.
    void (async () => {
      while (!socket.destroyed) {
        socket.write('H');
        await takeTime(500);
      }
    })();
    return 'taken';
  },
};

describe('receivers that', () => {
  it.for(['are down', ...Object.keys(answers)])(
    '%s are sent everything in the end, once, and hold up nobody else',
    faultOptions,
    (fault, context) =>
      strikes(`receivers ${fault}`, (run) =>
        strikePeers(run, async () => {
          const victims = [world.publishers[0], world.receiver.actor, world.consumer] as Actor[];
          for (const victim of victims)
            await (answers[fault] ? victim.interfere(answers[fault]) : victim.stop());
          await takeTime(run.between(1, 4) * seconds);
          for (const victim of victims) await (answers[fault] ? victim.interfere() : victim.listen());
        }),
      )(context),
  );
});

async function strikePeers(run: FaultRun, disturb: () => Promise<void>) {
  const work = await workThrough(world, run, {
    rounds: 4,
    publishes: 2,
    async strike() {
      await disturb();
      return performance.now();
    },
  });
  return judge(world, work);
}
