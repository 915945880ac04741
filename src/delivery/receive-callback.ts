import type { VerifiedRequest } from '../http/signed-route.ts';
import type { Context } from '../protocol/context.ts';
import { ProtocolError } from '../protocol/errors.ts';
import type { AwaitedCallback } from './await-callback.ts';

// A callback as a signed route passes it to a command, or to the publisher that has the command's address.

export interface Callback {
  signer: string;
  signerUrl?: string;
  recordId: string;
  chained: boolean;
  /** Whether the context carries the digest of the request; a different digest is refused. */
  bound: boolean;
  context: Context;
  message: object;
}

export type ReceivedCallback = Pick<VerifiedRequest, 'identity' | 'record' | 'recordId' | 'chained'> &
  Pick<Callback, 'context' | 'message'>;

/** Throws unless it answers the request and comes from the requested service. */
export function receiveCallback(
  { identity, record, recordId, chained, context, message }: ReceivedCallback,
  awaited: AwaitedCallback<Callback> | undefined,
): Callback {
  if (!awaited)
    throw new ProtocolError('CTX_INVALID_FIELD', 'This does not answer any of our requests.', {
      path: '$.context.messageId',
    });
  const callback = {
    ...{ signer: identity, signerUrl: record.url, recordId, chained },
    ...{ bound: context.requestDigest !== undefined, context, message },
  };
  awaited.accept(callback);
  return callback;
}

/** The callback, or why the last one was refused. */
export interface Waited {
  callback?: Callback;
  refusal?: string;
}

/** Waits after the acknowledgement: by `acknowledgedBy`, if the requested service signed it. */
export async function waitForCallback(
  awaited: AwaitedCallback<Callback>,
  { seconds, acknowledgedBy }: { seconds: number; acknowledgedBy?: string },
): Promise<Waited> {
  awaited.acknowledge(acknowledgedBy);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), seconds * 1_000);
  });
  const callback = await Promise.race([awaited.arrived, late]).finally(() => clearTimeout(timer));
  return callback ? { callback } : { refusal: awaited.refusal };
}
