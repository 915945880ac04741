// What may go wrong with OpenSearch.

export class OpenSearchFailure extends Error {
  override readonly name = 'OpenSearchFailure';
  /** It answers, but refuses what it is asked, and would refuse it again; otherwise it is gone, or overloaded. */
  readonly refusal?: Refusal;

  constructor(message: string, { refusal, ...options }: ErrorOptions & { refusal?: Refusal } = {}) {
    super(message, options);
    this.refusal = refusal;
  }
}

type Refusal = 'bad request' | 'not found';

/** The index has a document in a newer version than the one to be written. */
export class NewerVersionWritten extends Error {
  override readonly name = 'NewerVersionWritten';
}

const refusals: ReadonlyMap<number | undefined, Refusal> = new Map([
  [400, 'bad request'],
  [404, 'not found'],
]);

/** An error of the client of OpenSearch, in one sentence. */
export function toFailure(error: unknown): OpenSearchFailure {
  const { statusCode, meta, message } = error as {
    statusCode?: number;
    meta?: { body?: { error?: { type?: string; reason?: string } } };
    message?: string;
  };
  const { type, reason } = meta?.body?.error ?? {};
  const says = type ? `${type}: ${reason}` : (message ?? String(error));
  return new OpenSearchFailure(says, { refusal: refusals.get(statusCode), cause: error });
}

/** No node could be connected to. */
export function isUnreachable(error: unknown): boolean {
  return ['ConnectionError', 'NoLivingConnectionsError'].includes((error as Error).name);
}
