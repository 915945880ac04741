import { actions } from '../protocol/actions.ts';
import { identityOf } from '../protocol/identity.ts';
import {
  chainValues,
  parseSignatureHeader,
  type SignatureHeader,
  verifySignature,
} from '../protocol/request-signature.ts';
import { type RegistryClient, RegistryUnavailable } from '../registry/client.ts';
import { type Check, CheckFailed, CheckSkipped, clause } from './check.ts';
import { expectEqual, expectThat } from './expect.ts';
import type { Inbox, Received } from './inbox.ts';
import type { Answer, Sender, Sending } from './sender.ts';
import { at, describe, show } from './values.ts';

export interface Asked {
  answer: Answer;
  /** Undefined if it did not arrive in time, or was not due because the request was refused. */
  callback?: Received;
}

export interface Asking {
  self: Sender;
  inbox: Inbox;
  waitSeconds: number;
}

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

/** For checks that need a callback but do not test whether it arrives. */
export function requireCallback({ answer, callback }: Asked): Received {
  if (callback) return callback;
  const why = answer.status === 200 ? 'came' : `was due: ${describe(answer)}`;
  throw new CheckSkipped(`no ${answer.action.callback} ${why}`);
}

/** Checks that apply to every callback. `asked` sends the request at the first call. */
export function callbackChecks<Scene extends Pick<Asking, 'waitSeconds'> & { registry: RegistryClient }>(
  verb: 'publish' | 'pull' | 'discover',
  answering: string,
  asked: (scene: Scene) => Promise<Asked>,
): Check<Scene>[] {
  const { callback: action } = actions[verb];
  return [
    ...clause<Scene>(answering, {
      [`on-${verb}-comes: an on_${verb} with the messageId of the ${verb}`]: async (scene) => {
        const { answer, callback } = await asked(scene);
        if (answer.status !== 200) throw new CheckSkipped(`the ${verb} was not acknowledged with 200`);
        expectThat(callback !== undefined, `none came within ${scene.waitSeconds} s`);
      },
      [`on-${verb}-action: context.action ${action}`]: async (scene) => {
        const { body } = requireCallback(await asked(scene));
        expectEqual(at(body, 'context', 'action'), action, 'context.action of the callback');
      },
      [`on-${verb}-digest: the digest of the request in context.requestDigest`]: async (scene) => {
        const one = await asked(scene);
        const digest = at(requireCallback(one).body, 'context', 'requestDigest', 'digest');
        expectEqual(digest, one.answer.digest, 'context.requestDigest.digest');
      },
    }),
    ...clause<Scene>('Catalog spec: Authentication', {
      [`on-${verb}-signed: a signature that verifies with a key of the registry`]: async (scene) => {
        const one = await asked(scene);
        await verifySender(scene.registry, requireCallback(one), one.answer);
      },
    }),
  ];
}

/** Verifies a message with the registered key of its keyId, and the chain of a callback to its request. */
export async function verifySender(
  registry: RegistryClient,
  { authorization, raw }: Received,
  answered?: Answer,
): Promise<SignatureHeader> {
  try {
    const header = parseSignatureHeader(authorization);
    const { subscriberId, recordId } = header;
    const lookup = await registry.findKey(subscriberId, recordId);
    if (lookup.kind !== 'key')
      throw new CheckFailed(`${subscriberId}, ${recordId} has no usable key in the registry: ${lookup.kind}`);
    const answering = answered ? chainValues(answered.authorization) : [];
    verifySignature(header, lookup.publicKey, raw, answering);
    return header;
  } catch (error) {
    if (error instanceof CheckFailed) throw error;
    if (error instanceof RegistryUnavailable)
      throw new CheckSkipped(`the registry could not be queried for the key: ${error.message}`);
    const reason = error instanceof Error ? error.message : String(error);
    throw new CheckFailed(`its Authorization is "${authorization}": ${reason}`);
  }
}

export function expectSender({ authorization, body }: Received, registryName: string): void {
  const signer = /keyId="([^|"]*)/.exec(authorization)?.[1] ?? '';
  const named = at(body, 'context', 'bppId');
  expectThat(isSameNode(named, signer, registryName), `bppId is ${show(named)}, signed by ${signer}`);
  expectThat(URL.canParse(String(at(body, 'context', 'bppUri'))), 'there is no bppUri');
}

export function isSameNode(one: unknown, other: string, registryName: string): boolean {
  return (
    typeof one === 'string' && one !== '' && identityOf(one, registryName) === identityOf(other, registryName)
  );
}
