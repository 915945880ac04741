import { randomUUID } from 'node:crypto';
import type { Action } from '../protocol/actions.ts';
import { type ErrorCode, errorStatus } from '../protocol/errors.ts';
import { generateSeed, privateKeyFromSeed } from '../protocol/keys.ts';
import { signRequest } from '../protocol/request-signature.ts';
import { type Check, CheckSkipped, clause } from './check.ts';
import { expectKnownCode, expectRefusal, expectStatus, expectThat } from './expect.ts';
import type { Answer, Sender, Sending } from './sender.ts';
import { at, describe } from './values.ts';

export interface RequestScene {
  self: Sender;
  other?: Sender;
  /** A valid request without effects. */
  probe: { action: Action; message: object };
  /** All endpoints of the role, each with a request that would be refused even with a valid signature. */
  endpoints: readonly { action: Action; sending: Sending }[];
}

const on = clause<RequestScene>;

/** A request that must be refused, with a code or with a status and any code. The key has the condition: `pull-limit: limit is 101`. */
export function refusal<Scene>(
  key: string,
  refused: ErrorCode | number,
  send: (scene: Scene) => Promise<Answer>,
): Record<string, Check<Scene>['run']> {
  const [status, ...codes] = typeof refused === 'number' ? [refused] : [errorStatus[refused], refused];
  return {
    [key.replace(': ', `: ${[status, ...codes].join(' ')} when `)]: async (scene) =>
      expectRefusal(await send(scene), status, ...codes),
  };
}

/** A valid request with one change that must cause a refusal. */
const changed = (key: string, code: ErrorCode, change: (scene: RequestScene) => Sending) =>
  refusal<RequestScene>(key, code, (scene) =>
    scene.self.send(scene.probe.action, { message: scene.probe.message, ...change(scene) }),
  );

const anHourMs = 3_600_000;
const signing = 'Catalog spec: Authentication, rule 2';
const invalid = 'AUT_SIGNATURE_INVALID';

export const authenticationChecks = [
  ...on(
    signing,
    changed('signature-missing: there is no Authorization header', 'AUT_SIGNATURE_MISSING', () => ({
      authorization: () => undefined,
    })),
  ),
  ...on('Catalog spec: Endpoints, all requests are signed', {
    'every-endpoint-signed: 401 from every endpoint for a request without signature': async (scene) => {
      for (const { action, sending } of scene.endpoints)
        expectStatus(await scene.self.send(action, { ...sending, authorization: () => undefined }), 401);
    },
  }),
  ...on(signing, {
    ...changed('signature-verified: another key has signed', invalid, ({ self }) => ({
      key: { ...self.key, privateKey: privateKeyFromSeed(generateSeed()) },
    })),
    ...changed('body-signed: the body is not the one that was signed', invalid, ({ self }) => ({
      authorization: () => signRequest(self.key, Buffer.from('{}'), { now: new Date() }),
    })),
    ...changed('key-unknown: the registry has no such key', 'AUT_KEY_NOT_FOUND', ({ self }) => ({
      key: { ...self.key, recordId: `conform-${randomUUID()}` },
    })),
    ...changed('subscriber-unknown: no participant has this name', 'AUT_SUBSCRIBER_NOT_FOUND', (scene) => ({
      key: { ...scene.self.key, subscriberId: `conform-${randomUUID()}.example` },
    })),
    ...changed('signature-expired: the signature has expired', invalid, () => ({
      now: new Date(Date.now() - anHourMs),
      context: { timestamp: new Date().toISOString() },
    })),
    ...changed('signature-spaces: there is a space after a comma', invalid, () => ({
      authorization: (usual) => usual.replaceAll('",', '", '),
    })),
    ...changed('signature-headers: headers is not "(created) (expires) digest"', invalid, () => ({
      authorization: (usual) => usual.replace('(created) (expires) digest', '(created) digest'),
    })),
    ...changed('signature-algorithm: algorithm is not ed25519', invalid, () => ({
      authorization: (usual) => usual.replace('algorithm="ed25519"', 'algorithm="rsa-sha256"'),
    })),
  }),
];

const changedContext = (key: string, code: ErrorCode, sending: Sending) =>
  on(
    `Catalog spec: Errors, ${code}`,
    changed(key, code, () => sending),
  );

export const contextChecks = [
  ...changedContext('json-invalid: the body is not JSON', 'SCH_INVALID_JSON', {
    raw: Buffer.from('{"context": {'),
  }),
  ...changedContext('context-field-missing: context has no messageId', 'CTX_MISSING_FIELD', {
    context: { messageId: undefined },
  }),
  ...changedContext('context-field-invalid: context.timestamp is not a date-time', 'CTX_INVALID_FIELD', {
    context: { timestamp: 'yesterday' },
  }),
  ...changedContext('action-mismatch: context.action is that of another endpoint', 'CTX_ACTION_MISMATCH', {
    context: { action: 'catalog/none' },
  }),
  ...changedContext('version-unsupported: context.version is 1.0.0', 'CTX_VERSION_UNSUPPORTED', {
    context: { version: '1.0.0' },
  }),
  ...changedContext('ttl-expired: timestamp plus ttl has elapsed', 'CTX_TTL_EXPIRED', {
    context: { timestamp: new Date(Date.now() - anHourMs).toISOString(), ttl: 'PT1M' },
  }),
  ...on(
    'Catalog spec: Errors, SCH_FIELD_NOT_ALLOWED',
    changed('field-not-allowed: message has an unknown field', 'SCH_FIELD_NOT_ALLOWED', ({ probe }) => ({
      message: { ...probe.message, conformanceCheck: true },
    })),
  ),
];

/** They examine all refusals so far, so they run last. */
export const refusalChecks = [
  ...on('Catalog spec: Errors, one shape', {
    'refusals-are-nacks: message.status NACK and message.error with code and message in every refusal':
      async (scene) => {
        for (const answer of refusalsOf(scene)) {
          const { status, error } = Object(at(answer.body, 'message'));
          const isNack = status === 'NACK' && typeof error?.code === 'string';
          expectThat(isNack && typeof error.message === 'string', describe(answer));
        }
      },
  }),
  ...on('Catalog spec: Other shapes, Ack', {
    'refusals-name-request: the messageId of the request in every refusal': async (scene) => {
      for (const answer of refusalsOf(scene).filter(({ namesMessage }) => namesMessage))
        expectThat(at(answer.body, 'message', 'messageId') === answer.messageId, describe(answer));
    },
  }),
  ...on('Catalog spec: Other shapes, Error', {
    'refusal-paths: a JSONPath in details.path of every refusal that has one': async (scene) => {
      for (const answer of refusalsOf(scene)) {
        const path = at(answer.body, 'message', 'error', 'details', 'path');
        expectThat(
          path === undefined || (typeof path === 'string' && path.startsWith('$')),
          describe(answer),
        );
      }
    },
  }),
  ...on('Catalog spec: Errors, the ErrorCode enumeration', {
    'codes-canonical: a code of the enumeration in every refusal': async (scene) => {
      for (const { body, action } of refusalsOf(scene)) {
        const code = at(body, 'message', 'error', 'code');
        if (typeof code === 'string') expectKnownCode(code, `a refusal of ${action.method} ${action.path}`);
      }
    },
  }),
];

function refusalsOf({ self, other }: RequestScene): Answer[] {
  const refused = [...self.answers, ...(other?.answers ?? [])].filter(({ status }) => status >= 400);
  if (refused.length === 0) throw new CheckSkipped('no request was refused');
  return refused;
}
