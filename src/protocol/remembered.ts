// Accepted requests that are remembered, so that a repeat gets the same answer (http/answer-once.ts, storage/work/request-memory.ts).

/** The key that identifies repeats of a request; the digest distinguishes their bodies. */
export interface RequestKey {
  role: string;
  identity: string;
  method: string;
  /** Path, and the parameters known to the action. */
  url: string;
  action: string;
  /** messageId of its context; without one, its signature. */
  messageId: string;
}

export interface RememberedAnswer {
  digest: string;
  status: number;
  body: string;
  /** Number of resources in the promised answer, if it was cut. */
  truncated?: number;
}

/** Thrown inside the handler's transaction: a concurrent request with the same key was remembered first, and its answer counts. */
export class AlreadyRemembered extends Error {
  override readonly name = 'AlreadyRemembered';

  constructor() {
    super('the same request was remembered by a concurrent one');
  }
}
