import { identityOf } from '../protocol/identity.ts';
import {
  chainValues,
  parseSignatureHeader,
  type SignatureHeader,
  verifySignature,
} from '../protocol/request-signature.ts';
import { type RegistryClient, RegistryUnavailable } from '../registry/client.ts';
import { CheckFailed, CheckSkipped } from './check.ts';
import { at, describe, expectEqual } from './expect.ts';
import type { Inbox, Received } from './inbox.ts';
import type { Answer, Sender, Sending } from './sender.ts';

// A request with the callback that answers it (catalog spec: Events, Authentication).

export interface Asked {
  answer: Answer;
  /** Undefined when it did not come in time, or when none was due because the request was refused. */
  callback?: Received;
}

export interface Asking {
  self: Sender;
  inbox: Inbox;
  waitSeconds: number;
}

/** Sends a request, and waits for its callback where it is acknowledged with 200. */
export async function ask(
  { self, inbox, waitSeconds }: Asking,
  action: Parameters<Sender['send']>[0],
  sending: Sending,
): Promise<Asked> {
  const answer = await self.send(action, sending);
  if (answer.status !== 200) return { answer };
  const answersIt = ({ body, action: name }: Received) =>
    name === action.callback && at(body, 'context', 'messageId') === answer.messageId;
  const callback = await inbox.wait(answersIt, waitSeconds);
  return callback ? { answer, callback } : { answer };
}

/** For checks that look at a callback, and are no check of whether it comes. */
export function requireCallback({ answer, callback }: Asked): Received {
  if (callback) return callback;
  const why = answer.status === 200 ? 'came' : `was due: ${describe(answer)}`;
  throw new CheckSkipped(`no ${answer.action.callback} ${why}`);
}

/** The callback carries the action of its endpoint and the messageId of the request. */
export function expectAnswersRequest(asked: Asked): void {
  const { body } = requireCallback(asked);
  expectEqual(at(body, 'context', 'action'), asked.answer.action.callback, 'context.action of the callback');
}

export function expectRequestDigest(asked: Asked): void {
  const digest = at(requireCallback(asked).body, 'context', 'requestDigest', 'digest');
  expectEqual(digest, asked.answer.digest, 'context.requestDigest.digest');
}

export interface Signer {
  subscriberId: string;
  header: SignatureHeader;
}

/**
 * Who signed a message: verified with the key that the registry has under the keyId, for a callback over the chain too where it has one.
 *
 * @param answered the request that it answers
 */
export async function verifySender(
  registry: RegistryClient,
  { authorization, raw }: Received,
  answered?: Answer,
): Promise<Signer> {
  try {
    const header = parseSignatureHeader(authorization);
    const { subscriberId, recordId } = header;
    const lookup = await registry.findKey(subscriberId, recordId);
    if (lookup.kind !== 'key')
      throw new CheckFailed(`${subscriberId}, ${recordId} has no usable key in the registry: ${lookup.kind}`);
    const answering = answered ? chainValues(answered.authorization) : [];
    verifySignature(header, lookup.publicKey, raw, answering);
    return { subscriberId, header };
  } catch (error) {
    if (error instanceof CheckFailed) throw error;
    if (error instanceof RegistryUnavailable)
      throw new CheckSkipped(`the registry could not be asked for the key: ${error.message}`);
    const reason = error instanceof Error ? error.message : String(error);
    throw new CheckFailed(`its Authorization is "${authorization}": ${reason}`);
  }
}

export function isSameNode(one: unknown, other: string, registryName: string): boolean {
  return (
    typeof one === 'string' && one !== '' && identityOf(one, registryName) === identityOf(other, registryName)
  );
}
