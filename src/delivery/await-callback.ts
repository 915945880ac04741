import type { VerifiedRequest } from '../http/signed-route.ts';
import type { Context } from '../protocol/context.ts';
import { findBodyDigest } from '../protocol/digest.ts';
import { ProtocolError } from '../protocol/errors.ts';

// The callback to a request that somebody waits for, in memory: a command, or a command through the publisher that has its address.

/** What is remembered of a request while its callback is waited for. */
export interface AwaitedRequest {
  messageId?: string;
  /** The value of its header, by which the callback may name it. */
  authorization: string;
  /** As `bodyDigest` gives it. */
  digest: string;
}

export interface Callback {
  signer: string;
  recordId: string;
  /** Whether the signature names the request that it answers. */
  chained: boolean;
  /** Whether the context carries the digest of the request; one that differs is refused. */
  bound: boolean;
  context: Context;
  message: object;
}

export type ReceivedCallback = Pick<VerifiedRequest, 'identity' | 'recordId' | 'chained'> & {
  context: Context;
  message: object;
};

/** Throws unless it answers the request. */
export function readCallback(
  { identity, recordId, chained, context, message }: ReceivedCallback,
  sent: AwaitedRequest | undefined,
): Callback {
  if (!sent || context.messageId !== sent.messageId) {
    throw new ProtocolError('CTX_INVALID_FIELD', 'This answers no request of ours.', {
      path: '$.context.messageId',
    });
  }
  const digest = context.requestDigest?.digest;
  if (digest !== undefined && findBodyDigest(digest) !== sent.digest) {
    throw new ProtocolError('CTX_INVALID_FIELD', 'This is the digest of another request.', {
      path: '$.context.requestDigest.digest',
    });
  }
  return { signer: identity, recordId, chained, bound: digest !== undefined, context, message };
}

/** A callback on its way: it comes once, or not in time. */
export interface Arrival {
  arrive(callback: Callback): void;
  within(seconds: number): Promise<Callback | undefined>;
}

export function createArrival(): Arrival {
  let arrive: (callback: Callback) => void = () => {};
  const arrived = new Promise<Callback>((resolve) => {
    arrive = resolve;
  });
  return {
    arrive: (callback) => arrive(callback),
    within(seconds) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), seconds * 1_000);
      });
      return Promise.race([arrived, late]).finally(() => clearTimeout(timer));
    },
  };
}
