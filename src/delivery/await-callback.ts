import { type AskedService, isAskedService } from '../protocol/asked-service.ts';
import type { Context } from '../protocol/context.ts';
import { findBodyDigest } from '../protocol/digest.ts';
import { ProtocolError } from '../protocol/errors.ts';

// Waits in memory for the callback to a request of a command, a command through the publisher that has its address, or the client package. Which
// callbacks count: packages/client/README.md, "Whose callback counts".

export interface AskedRequest {
  digest: string;
  service: AskedService;
}

interface SignedCallback {
  /** Identity of the signer, and its base address in the registry. */
  signer: string;
  signerUrl?: string;
  context: Pick<Context, 'requestDigest'>;
}

export interface AwaitedCallback<Callback> {
  /** Throws if it does not answer the request, or is not from the requested service. */
  accept(callback: Callback): void;
  /** The acknowledgement is here. If the service signed it, only that signer's callback counts, including one that came before. */
  acknowledge(signer: string | undefined): void;
  /** The first callback that counts, once the acknowledgement is here. */
  arrived: Promise<Callback>;
  /** Ends the waiting: `arrived` rejects, unless a callback has come. Later callbacks are checked and ignored. */
  fail(error: Error): void;
  readonly isAnswered: boolean;
  /** Why the last callback to this request was refused, if one was. */
  refusal?: string;
}

export function awaitCallback<Callback extends SignedCallback>({
  digest,
  service,
}: AskedRequest): AwaitedCallback<Callback> {
  let arrive: (callback: Callback) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const arrived = new Promise<Callback>((resolve, reject) => {
    arrive = resolve;
    fail = reject;
  });
  // Possibly nobody awaits it yet.
  arrived.catch(() => undefined);
  /** The first callback of each signer before the acknowledgement; undefined after it. */
  let early: Map<string, Callback> | undefined = new Map();
  let acknowledgedBy: string | undefined;
  let isAnswered = false;
  let isOver = false;
  const take = (callback: Callback) => {
    if (isOver) return;
    isAnswered = true;
    arrive(callback);
  };

  const awaited: AwaitedCallback<Callback> = {
    accept(callback) {
      try {
        checkDigest(callback, digest);
        checkSigner(callback, service, acknowledgedBy);
      } catch (error) {
        awaited.refusal = (error as ProtocolError).message;
        throw error;
      }
      if (!early) take(callback);
      else if (!early.has(callback.signer)) early.set(callback.signer, callback);
    },
    acknowledge(signer) {
      const waiting = [...(early?.values() ?? [])];
      acknowledgedBy = signer;
      early = undefined;
      for (const callback of waiting)
        if (signer === undefined || signer === callback.signer) take(callback);
        else awaited.refusal = notAsked(signer, callback.signer);
    },
    arrived,
    fail(error) {
      isOver = true;
      fail(error);
    },
    get isAnswered() {
      return isAnswered;
    },
  };
  return awaited;
}

function checkDigest({ context: { requestDigest } }: SignedCallback, digest: string): void {
  if (requestDigest === undefined || findBodyDigest(requestDigest.digest) === digest) return;
  throw new ProtocolError('CTX_INVALID_FIELD', 'This is the digest of another request.', {
    path: '$.context.requestDigest.digest',
  });
}

function checkSigner(
  { signer, signerUrl }: SignedCallback,
  service: AskedService,
  acknowledgedBy: string | undefined,
): void {
  const asked = acknowledgedBy ?? service.identity;
  if (asked !== undefined && asked !== signer)
    throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', notAsked(asked, signer));
  if (isAskedService(service, signer, { url: signerUrl })) return;
  const { origin } = new URL(service.url);
  throw new ProtocolError(
    'AUT_UNAUTHORIZED_ACTION',
    `${origin} was asked, but the registry has ${signer} at ${signerUrl ?? 'no address'}. Ask it at its registered address, or, with the client package, by its subscriberId.`,
  );
}

function notAsked(asked: string, signer: string): string {
  return `${asked} was asked, not ${signer}.`;
}
