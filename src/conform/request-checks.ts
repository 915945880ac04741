import { randomUUID } from 'node:crypto';
import type { Action } from '../protocol/actions.ts';
import { type ErrorCode, errorStatus } from '../protocol/errors.ts';
import { generateSeed, privateKeyFromSeed, type SigningKey } from '../protocol/keys.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { type Check, CheckSkipped } from './check.ts';
import { at, describe, expectKnownCode, expectRefusal, expectStatus, expectThat } from './expect.ts';
import type { Answer, Sender, Sending } from './sender.ts';

// What every signed endpoint must do, whatever it is for (catalog spec: Authentication, Context, Errors). It is tried on one endpoint, by a request that
// asks for nothing that stays.

export interface RequestScene {
  self: Sender;
  other?: Sender;
  /** A request that would be accepted, and leaves nothing behind. */
  probe: { action: Action; message: object };
  /** Every endpoint of the role, each with a request that would be refused even if its signature held. */
  endpoints: readonly { action: Action; sending: Sending }[];
}

type RequestCheck = Check<RequestScene>;

/** A request that must be refused, with a code or with a status and any code. */
export function refusal<Scene extends { self: Sender }>(
  name: string,
  clause: string,
  when: string,
  refused: ErrorCode | number,
  send: (scene: Scene) => Promise<Answer>,
): Check<Scene> {
  const [status, ...codes] = typeof refused === 'number' ? [refused] : [errorStatus[refused], refused];
  return {
    ...{ name, clause, expects: `${[status, ...codes].join(' ')} when ${when}` },
    run: async (scene) => expectRefusal(await send(scene), status, ...codes),
  };
}

/** Checks of a request that would be accepted but for one change, and must be refused for it. */
const changedRequest =
  (clauseOf: (code: string) => string) =>
  (name: string, when: string, code: ErrorCode, change: (scene: RequestScene) => Sending): RequestCheck =>
    refusal(name, clauseOf(code), when, code, (scene) => {
      const { action, message } = scene.probe;
      return scene.self.send(action, { message, ...change(scene) });
    });

const changedSignature = changedRequest(() => 'Catalog spec: Authentication, rule 2');
const changedBody = changedRequest((code) => `Catalog spec: Errors, ${code}`);

const anHourMs = 3_600_000;

export const authenticationChecks: readonly RequestCheck[] = [
  changedSignature('signature-missing', 'there is no Authorization header', 'AUT_SIGNATURE_MISSING', () => ({
    authorization: () => undefined,
  })),
  {
    name: 'every-endpoint-signed',
    clause: 'Catalog spec: Endpoints, all requests are signed',
    expects: '401 from every endpoint for a request without signature',
    async run({ self, endpoints }) {
      for (const { action, sending } of endpoints)
        expectStatus(await self.send(action, { ...sending, authorization: () => undefined }), 401);
    },
  },
  changedSignature('signature-verified', 'another key has signed', 'AUT_SIGNATURE_INVALID', ({ self }) => ({
    key: { ...self.key, privateKey: privateKeyFromSeed(generateSeed()) },
  })),
  changedSignature(
    'body-signed',
    'the body is not the one that was signed',
    'AUT_SIGNATURE_INVALID',
    ({ self }) => ({
      authorization: () => signRequest(self.key, Buffer.from('{}'), { now: new Date() }),
    }),
  ),
  changedSignature('key-unknown', 'the registry has no such key', 'AUT_KEY_NOT_FOUND', ({ self }) => ({
    key: { ...self.key, recordId: `conform-${randomUUID()}` },
  })),
  changedSignature(
    'subscriber-unknown',
    'nobody is registered under the name',
    'AUT_SUBSCRIBER_NOT_FOUND',
    stranger,
  ),
  changedSignature('signature-expired', 'the signature has expired', 'AUT_SIGNATURE_INVALID', () => ({
    now: new Date(Date.now() - anHourMs),
    context: { timestamp: new Date().toISOString() },
  })),
  changedSignature('signature-spaces', 'there is a space after a comma', 'AUT_SIGNATURE_INVALID', () => ({
    authorization: (usual) => usual.replaceAll('",', '", '),
  })),
  changedSignature(
    'signature-headers',
    'headers is not "(created) (expires) digest"',
    'AUT_SIGNATURE_INVALID',
    () => ({ authorization: (usual) => usual.replace('(created) (expires) digest', '(created) digest') }),
  ),
  changedSignature('signature-algorithm', 'algorithm is not ed25519', 'AUT_SIGNATURE_INVALID', () => ({
    authorization: (usual) => usual.replace('algorithm="ed25519"', 'algorithm="rsa-sha256"'),
  })),
];

function stranger({ self }: RequestScene): Sending {
  const subscriberId = `conform-${randomUUID()}.example`;
  const key: SigningKey = { ...self.key, subscriberId };
  return { key };
}

export const contextChecks: readonly RequestCheck[] = [
  changedBody('json-invalid', 'the body is not JSON', 'SCH_INVALID_JSON', () => ({
    raw: Buffer.from('{"context": {'),
  })),
  changedBody('context-field-missing', 'context has no messageId', 'CTX_MISSING_FIELD', () => ({
    context: { messageId: undefined },
  })),
  changedBody('context-field-invalid', 'context.timestamp is no date-time', 'CTX_INVALID_FIELD', () => ({
    context: { timestamp: 'yesterday' },
  })),
  changedBody('action-mismatch', 'context.action is that of another endpoint', 'CTX_ACTION_MISMATCH', () => ({
    context: { action: 'catalog/none' },
  })),
  changedBody('version-unsupported', 'context.version is 1.0.0', 'CTX_VERSION_UNSUPPORTED', () => ({
    context: { version: '1.0.0' },
  })),
  changedBody('ttl-expired', 'timestamp plus ttl has elapsed', 'CTX_TTL_EXPIRED', () => ({
    context: { timestamp: new Date(Date.now() - anHourMs).toISOString(), ttl: 'PT1M' },
  })),
  changedBody(
    'field-not-allowed',
    'message has a field that nobody knows',
    'SCH_FIELD_NOT_ALLOWED',
    (scene) => ({
      message: { ...scene.probe.message, conformanceCheck: true },
    }),
  ),
];

const shapeOfErrors = 'Catalog spec: Errors, one shape';

/** They look at every refusal that came so far, so they stand at the end. */
export const refusalChecks: readonly RequestCheck[] = [
  {
    name: 'refusals-are-nacks',
    clause: shapeOfErrors,
    expects: 'message.status NACK and message.error with code and message in every refusal',
    async run(scene) {
      for (const answer of refusalsOf(scene)) {
        const { body } = answer;
        expectThat(at(body, 'message', 'status') === 'NACK', describe(answer));
        expectThat(typeof at(body, 'message', 'error', 'code') === 'string', describe(answer));
        expectThat(typeof at(body, 'message', 'error', 'message') === 'string', describe(answer));
      }
    },
  },
  {
    name: 'refusals-name-request',
    clause: 'Catalog spec: Other shapes, Ack',
    expects: 'the messageId of the request in every refusal',
    async run(scene) {
      const named = refusalsOf(scene).filter(({ namesMessage }) => namesMessage);
      for (const answer of named)
        expectThat(at(answer.body, 'message', 'messageId') === answer.messageId, describe(answer));
    },
  },
  {
    name: 'refusal-paths',
    clause: 'Catalog spec: Other shapes, Error',
    expects: 'a JSONPath in details.path of every refusal that has one',
    async run(scene) {
      for (const answer of refusalsOf(scene)) {
        const path = at(answer.body, 'message', 'error', 'details', 'path');
        const isPath = typeof path === 'string' && path.startsWith('$');
        expectThat(path === undefined || isPath, describe(answer));
      }
    },
  },
  {
    name: 'codes-canonical',
    clause: 'Catalog spec: Errors, the ErrorCode enumeration',
    expects: 'a code of the enumeration in every refusal',
    async run(scene) {
      for (const { body, action } of refusalsOf(scene)) {
        const code = at(body, 'message', 'error', 'code');
        if (typeof code === 'string') expectKnownCode(code, `a refusal of ${action.method} ${action.path}`);
      }
    },
  },
];

function refusalsOf({ self, other }: RequestScene): Answer[] {
  const refused = [...self.answers, ...(other?.answers ?? [])].filter(({ status }) => status >= 400);
  if (refused.length === 0) throw new CheckSkipped('no request was refused');
  return refused;
}
