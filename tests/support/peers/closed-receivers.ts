import { listCallbacks } from '../../../src/storage/work/callback-list.ts';
import type { Actor, Received } from '../network/actor.ts';
import type { TestNetwork } from '../network/network.ts';
import { until } from '../time.ts';
import { likeOnix, refuseWhatIsClosed } from './closed-consumer.ts';
import { findPeerFaults } from './peer-schemas.ts';

// Participants with closed schemas, and the messages that they received.

/** Refuses members that closed schemas do not name, from the first message on. */
export async function joinClosed(network: TestNetwork, name: string, closed = likeOnix): Promise<Actor> {
  const actor = await network.actor(name);
  actor.behave(refuseWhatIsClosed(closed));
  return actor;
}

/** Every send of a callback, in order, once it is settled, and the operator's view of it. */
export async function sentTo({ database }: Pick<TestNetwork, 'database'>, actor: Actor, messageId: string) {
  const delivery = await until(async () => {
    const callbacks = await listCallbacks(database, { limit: 1_000 });
    const found = callbacks.find((one) => one.messageId === messageId);
    return found?.state !== 'open' && found;
  }, `the callback to ${actor.id} to be settled`);
  const sends = actor.received.filter(({ body }) => body.context.messageId === messageId);
  return { sends, delivery };
}

/** Whether closed schemas accept the message. */
export function isAccepted({ action, body }: Received): boolean {
  return findPeerFaults(action, body).length === 0;
}

/** Members that no closed schema names, and a validity with dates only: strict form repairs both. */
export const loose = {
  descriptor: { name: 'Loose', short_desc: 'loose' },
  validity: { startDate: '2026-01-01', endDate: '2099-12-31' },
};

/** A message that strict form cannot repair: a document that is none of the six objects. */
export const hopeless = {
  descriptor: { name: 'Hopeless', docs: [{ url: 'https://files.example/1', pages: 3 }] },
};
