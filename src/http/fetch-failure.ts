/** The ways in which a call fails. Only `timeout` and `unreachable` may be temporary. */
export type FetchFailureKind =
  | 'timeout'
  | 'too-large'
  | 'address-refused'
  | 'unreachable'
  | 'redirects'
  | 'bad-url'
  | 'bad-encoding'
  | 'aborted';

/** No usable answer came. The message is a sentence for people that names the address and what to check. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure';
  readonly kind: FetchFailureKind;
  /** The received part of an answer whose body could not be read. */
  answered?: AnswerHead;

  constructor(kind: FetchFailureKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

export interface AnswerHead {
  status: number;
  headers: Record<string, string>;
}

/** Converts network errors of undici, the resolver or TLS into ours. Rethrows any other error: it is our own mistake, not the other side's. */
export function asFetchFailure(error: unknown, url: URL): FetchFailure {
  if (error instanceof FetchFailure) return error;
  if (!isOfNetwork(error)) throw error;
  const { code = '', message: detail } = error;
  if (/^(UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/.test(code))
    return new FetchFailure('timeout', `${url.origin} did not answer in time.`, error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new FetchFailure('too-large', `${url.origin} sent more headers than we read.`, error);
  const message = `${url.origin} cannot be reached: ${reasons[code] ?? detail}.`;
  return new FetchFailure('unreachable', message, error);
}

/** Failures of sockets, names and TLS have codes, and so do wrong arguments. An answer that is not HTTP may have none. */
function isOfNetwork(error: unknown): error is Error & { code?: string } {
  if (!(error instanceof Error) || error instanceof TypeError) return false;
  if (error.name === 'HTTPParserError') return true;
  return 'code' in error && typeof error.code === 'string' && !argumentCodes.includes(error.code);
}

const argumentCodes = ['UND_ERR_INVALID_ARG', 'UND_ERR_INVALID_RETURN_VALUE', 'UND_ERR_NOT_SUPPORTED'];

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  UND_ERR_SOCKET: 'it closed the connection',
  ENOTFOUND: 'its name does not resolve',
  EAI_AGAIN: 'its name cannot be resolved at the moment',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no route to that network',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate chain is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on that port',
};
