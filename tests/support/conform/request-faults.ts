import { createPublicKey } from 'node:crypto';
import { generateSeed, privateKeyFromSeed } from '../../../src/protocol/keys.ts';
import { parseSignatureHeader, verifySignature } from '../../../src/protocol/request-signature.ts';
import type { PassedAnswer, PassedMessage, PassedRequest, Spoiling } from './broken-service.ts';

// Faults that can be planted in any signed endpoint, one for each check that should find it. Faults of one group can be planted together: none hides another.

export interface PlantedFault extends Spoiling {
  /** The check that fails. */
  check: string;
  what: string;
  group: 1 | 2 | 'alone';
}

/** Seed of the identity that makes the checks. */
export const checkerSeed = generateSeed();
const checkerKey = createPublicKey(privateKeyFromSeed(checkerSeed));

export type When = (request: PassedRequest, answer: PassedAnswer) => unknown;

/** A fault in the answers to some requests. */
export function inAnswer(
  check: string,
  what: string,
  when: When,
  spoil: (answer: PassedAnswer, request: PassedRequest) => void,
  group: PlantedFault['group'] = 1,
): PlantedFault {
  return {
    ...{ check, what, group },
    answer: (answer, request) => {
      if (when(request, answer)) spoil(answer, request);
    },
  };
}

/** A fault in some callbacks or pushes. */
export function inMessage(
  check: string,
  what: string,
  when: (message: PassedMessage) => unknown,
  spoil: (message: PassedMessage) => void,
  group: PlantedFault['group'] = 1,
): PlantedFault {
  return {
    ...{ check, what, group },
    message: (message) => {
      if (when(message)) spoil(message);
    },
  };
}

/** Acknowledges a request that should be refused. */
export const accepted = (answer: PassedAnswer, { body }: PassedRequest) => {
  answer.status = 200;
  answer.body = { message: { status: 'ACK', messageId: body?.context?.messageId } };
};

export const coded =
  (code: string, status?: number) =>
  (answer: PassedAnswer): void => {
    answer.status = status ?? answer.status;
    answer.body.message.error.code = code;
  };

const codeOf = ({ body }: PassedAnswer) => body?.message?.error?.code;
export const refusedBy =
  (code: string): When =>
  (_request, answer) =>
    codeOf(answer) === code;

/** The flaw of a signature, from its header. */
function flawOf({ authorization }: PassedRequest): string {
  if (authorization === undefined) return 'missing';
  if (authorization.includes('", ')) return 'spaces';
  if (authorization.includes('rsa-sha256')) return 'algorithm';
  if (authorization.includes('"(created) digest"')) return 'headers';
  const { expires, subscriberId, recordId } = parseSignatureHeader(authorization);
  if (expires < Date.now() / 1_000) return 'expired';
  if (subscriberId.startsWith('conform-')) return 'subscriber';
  if (recordId.startsWith('conform-')) return 'key';
  return isOfOtherBody(authorization) ? 'body' : 'signer';
}

/** Whether the signature is valid but for another body: the checks sign an empty object. */
function isOfOtherBody(authorization: string): boolean {
  try {
    verifySignature(parseSignatureHeader(authorization), checkerKey, Buffer.from('{}'));
    return true;
  } catch {
    return false;
  }
}

const flawed =
  (flaw: string): When =>
  (request, answer) =>
    answer.status === 401 && flawOf(request) === flaw;

/**
 * Faults in the rules of every signed endpoint.
 *
 * @param probe the path of the endpoint that is tested
 * @param unsigned an endpoint without signatures
 */
export function requestFaults(probe: string, unsigned: { method: string; path: string }): PlantedFault[] {
  return [
    inAnswer(
      'signature-missing',
      'another code for a missing signature',
      (request, answer) => request.path === probe && flawed('missing')(request, answer),
      coded('AUT_SIGNATURE_INVALID'),
    ),
    inAnswer(
      'every-endpoint-signed',
      'one endpoint asks for no signature',
      ({ method, path, authorization }) =>
        authorization === undefined && method === unsigned.method && path === unsigned.path,
      accepted,
    ),
    inAnswer('signature-verified', 'the signature of another key is taken', flawed('signer'), accepted),
    inAnswer('body-signed', 'the signature of another body is taken', flawed('body'), accepted),
    inAnswer('key-unknown', 'another code', flawed('key'), coded('AUT_SIGNATURE_INVALID')),
    inAnswer('subscriber-unknown', 'another code', flawed('subscriber'), coded('AUT_KEY_NOT_FOUND')),
    inAnswer('signature-expired', 'an expired signature is taken', flawed('expired'), accepted),
    inAnswer('signature-spaces', 'white space is forgiven', flawed('spaces'), accepted),
    inAnswer('signature-headers', 'other headers are taken', flawed('headers'), accepted),
    inAnswer('signature-algorithm', 'another algorithm is taken', flawed('algorithm'), accepted),
    inAnswer(
      'json-invalid',
      'another code',
      refusedBy('SCH_INVALID_JSON'),
      coded('SCH_SCHEMA_VALIDATION_FAILED'),
    ),
    inAnswer('context-field-missing', 'it is taken', refusedBy('CTX_MISSING_FIELD'), accepted),
    inAnswer(
      'context-field-invalid',
      'another code',
      ({ body }) => body?.context?.timestamp === 'yesterday',
      coded('SCH_INVALID_FORMAT'),
    ),
    inAnswer('action-mismatch', 'any action is taken', refusedBy('CTX_ACTION_MISMATCH'), accepted),
    inAnswer('version-unsupported', 'any version is taken', refusedBy('CTX_VERSION_UNSUPPORTED'), accepted),
    inAnswer('ttl-expired', 'an old message is taken', refusedBy('CTX_TTL_EXPIRED'), accepted),
    inAnswer('field-not-allowed', 'any field is taken', refusedBy('SCH_FIELD_NOT_ALLOWED'), accepted),
    inAnswer(
      'refusals-are-nacks',
      'a refusal says ACK',
      refusedBy('CTX_TTL_EXPIRED'),
      ({ body }) => {
        body.message.status = 'ACK';
      },
      2,
    ),
    inAnswer(
      'refusal-paths',
      'a path that is no JSONPath',
      ({ body }) => body?.context?.timestamp === 'yesterday',
      ({ body }) => {
        body.message.error.details = { path: 'context/timestamp' };
      },
      2,
    ),
    inAnswer(
      'refusals-name-request',
      'a refusal leaves the messageId out',
      refusedBy('CTX_VERSION_UNSUPPORTED'),
      ({ body }) => {
        delete body.message.messageId;
      },
      2,
    ),
  ];
}

/** Faults in the rules of every callback and push. */
export function messageFaults(when: (message: PassedMessage) => unknown): PlantedFault[] {
  return [
    inMessage('messages-enveloped', 'a third member', when, ({ body }) => {
      body.signature = 'none';
    }),
    inMessage('messages-context', 'transactionId is missing', when, ({ body }) => {
      delete body.context.transactionId;
    }),
    inMessage('messages-version', 'another version', when, ({ body }) => {
      body.context.version = '1.1.0';
    }),
  ];
}
