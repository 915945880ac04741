import { createPublicKey } from 'node:crypto';
import { Acknowledgement } from '../../src/protocol/acknowledgement.ts';
import { createAjv } from '../../src/protocol/ajv.ts';
import { errorStatus } from '../../src/protocol/errors.ts';
import type { SigningKey } from '../../src/protocol/keys.ts';
import { parseSignatureHeader, verifySignature } from '../../src/protocol/request-signature.ts';
import type { HttpAnswer } from './http-exchange.ts';
import { accepted, Fault, type FaultKind, type Outcome } from './target.ts';

// Rules for every answer: no 5xx except a 503 with a code, and every refusal is a NACK that matches our schema.

const ajv = createAjv({ everyFault: false });
const isAcknowledgement = ajv.compile(Acknowledgement);
const codes: ReadonlySet<string> = new Set(Object.keys(errorStatus));

/** The documented 5xx: overload, a registry that does not answer, a search that takes too long. */
const documented5xx: ReadonlySet<string> = new Set([
  ...['503 NET_OVERLOADED', '503 NET_DOWNSTREAM_UNAVAILABLE', '504 NET_TIMEOUT'],
]);

/** Judges an answer of a service whose answers are NACKs. */
export function judgeNack(answer: HttpAnswer): Outcome {
  const { status } = answer;
  const body = parseBody(answer);
  if (!isAcknowledgement(body)) throw fault('the body is no Acknowledgement', answer);
  const { message } = body as Acknowledgement;
  const code = message.error?.code;
  if (status === 202) {
    if (message.status !== 'ACK' || code === undefined) throw fault('a 202 is an ACK with an error', answer);
    return code;
  }
  if (message.status !== 'NACK') throw fault('a refusal is a NACK', answer);
  checkCode(code, answer);
  return code ?? '';
}

/** The status and code of a refusal, in any shape. */
export function checkCode(code: string | undefined, answer: HttpAnswer): void {
  const { status } = answer;
  if (code === undefined || !codes.has(code)) throw fault('a refusal has a code of the enumeration', answer);
  if (status >= 500 && !documented5xx.has(`${status} ${code}`))
    throw fault('an undocumented 5xx', answer, '5xx');
  if ((status === 429 || status === 503) && answer.headers['retry-after'] === undefined)
    throw fault('429 and 503 have Retry-After', answer);
}

export function isAccepted({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300 && status !== 202;
}

export function parseBody(answer: HttpAnswer): unknown {
  const type = answer.headers['content-type'] ?? '';
  if (!/^application\/json\b/.test(type)) throw fault(`content-type ${type}`, answer);
  try {
    return JSON.parse(answer.body.toString('utf8'));
  } catch {
    throw fault('the body is no JSON', answer);
  }
}

/** An answer of a signed route is signed by the service, and names the request. If the address is too long (431), there is no request to name. */
export function checkAnswerSignature(answer: HttpAnswer, service: SigningKey, authorization: string): void {
  const value = answer.headers.signature;
  if (value === undefined && answer.status === 431) return;
  if (value === undefined) throw fault('the answer is not signed', answer);
  const { signature } = parseSignatureHeader(authorization);
  try {
    verifySignature(parseSignatureHeader(value), createPublicKey(service.privateKey), answer.body, signature);
  } catch {
    throw fault('the signature of the answer does not verify', answer);
  }
}

export function fault(what: string, { status, headers, body }: HttpAnswer, kind?: FaultKind): Fault {
  return new Fault(
    `${what}: ${status} ${headers['content-type'] ?? ''} ${body.toString('utf8').slice(0, 600)}`,
    kind,
  );
}

export { accepted };

/** Log lines that indicate a fault in the program, not bad input. */
export function findBugs(lines: readonly string[]): string[] {
  return lines.filter((line) => bugPatterns.some((pattern) => pattern.test(line)));
}

const bugPatterns = [
  /\b(Type|Range|Reference|Syntax|URI|Eval)Error\b/,
  /\bAssertionError\b|\bERR_[A-Z_]+\b|\bFST_ERR_/,
  /unhandled|uncaught/i,
  /"level":(50|60)\b/,
  // PostgreSQL's messages for values that it cannot store.
  /invalid byte sequence|unsupported Unicode escape|invalid input syntax|out of range for type|violates .* constraint/,
];
