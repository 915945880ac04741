import { expect } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import type { Actor, Body } from './actor.ts';

// Requests of a Discovery Service to the catalog service: subscriptions and pulls.

export async function createSubscription(as: Actor, subscription: object): Promise<Body> {
  const { status, body } = await as.send(actions.subscribe, { subscription });
  expect(status).toBe(200);
  return body.message.subscriptions[0];
}

/** Returns the id of the subscription. */
export async function subscribe(as: Actor, subscription: object): Promise<string> {
  return (await createSubscription(as, subscription)).subscriptionId;
}

/** Pulls and waits for the callback. */
export async function pull(
  as: Actor,
  message: { subscriptionId: string; [member: string]: unknown },
): Promise<Body> {
  const { status, messageId } = await as.send(actions.pull, message);
  expect(status).toBe(200);
  return (await as.waitFor('catalog/on_pull', messageId)).body.message;
}
