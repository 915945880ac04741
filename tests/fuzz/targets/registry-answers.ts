import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { actions } from '../../../src/protocol/actions.ts';
import { publicKeyOf } from '../../../src/protocol/keys.ts';
import { signRequest } from '../../../src/protocol/request-signature.ts';
import { renderChanged } from '../changed.ts';
import { hostileText } from '../hostile-values.ts';
import { exchange } from '../http-exchange.ts';
import { type ByteMutation, bytesSometimes } from '../mutate-bytes.ts';
import { type Mutation, mutations } from '../mutate-json.ts';
import { isAccepted, judgeNack } from '../oracle.ts';
import { network, registryName } from '../participants.ts';
import type { Scene } from '../scene.ts';
import { accepted, Fault, type Target } from '../target.ts';

// A registry that lies: a good request whose sender has a damaged record, one of another shape, or no answer at all.

interface LieCase {
  role: 'catalog' | 'discovery';
  status: number;
  headers: Record<string, string>;
  changes: Mutation[];
  bytes: readonly ByteMutation[];
  /** Text that is written to the socket instead of an answer. */
  raw: string;
}

const headers = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Record<string, string>>({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>>(
      { 'content-encoding': 'gzip' },
      { 'content-encoding': 'br, x' },
      { 'content-type': 'text/html; charset=x' },
      { 'cache-control': 'max-age=99999999999999999999, no-store' },
      { location: 'http://127.0.0.1:1/' },
      { location: '//[' },
      { 'retry-after': 'never' },
    ),
  },
);

export const registryAnswers: Target<LieCase> = {
  name: 'answers of a registry that lies',
  weight: 7,
  concurrency: 6,
  cases: fc.record({
    role: fc.constantFrom('catalog', 'discovery'),
    status: fc.oneof(
      { weight: 6, arbitrary: fc.constant(200) },
      { weight: 2, arbitrary: fc.constantFrom(201, 204, 206, 301, 302, 304, 400, 404, 410, 429, 500, 503) },
    ),
    headers,
    changes: mutations,
    bytes: bytesSometimes(),
    raw: fc.oneof(
      { weight: 20, arbitrary: fc.constant('') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          'HTTP/1.1 200 OK\r\n\r\n',
          'HTTP/1.1 99 \r\n\r\n',
          '\x00',
          'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{',
        ),
      },
      { weight: 1, arbitrary: hostileText },
    ),
  }),
  run: runLie,
};

async function runLie(scene: Scene, one: LieCase, id: string): Promise<string> {
  const { application } = scene.participants;
  const name = `${id}-${randomUUID().slice(0, 8)}.liar.test`;
  const answer = truth(name, application.url, publicKeyOf(application.key.privateKey));
  const body = renderChanged(answer, { content: one.changes, bytes: one.bytes });
  scene.registry.lie(name, {
    ...{ status: one.status, headers: one.headers, body },
    ...(one.raw !== '' && { raw: Buffer.from(one.raw, 'latin1') }),
  });
  try {
    return await ask(scene, one, { id: name, url: application.url, requestId: id });
  } finally {
    scene.registry.lie(name, undefined);
  }
}

async function ask(
  scene: Scene,
  { role }: LieCase,
  { id, url, requestId }: { id: string; url: string; requestId: string },
): Promise<string> {
  const action = role === 'catalog' ? actions.search : actions.discover;
  const now = new Date();
  const context = {
    ...{ version: '2.0.0', action: action.name, messageId: randomUUID(), transactionId: randomUUID() },
    ...{ timestamp: now.toISOString(), bapId: id, bapUri: url },
  };
  const message = role === 'catalog' ? { limit: 1 } : { intent: { textSearch: 'nothing of that name' } };
  const body = Buffer.from(JSON.stringify({ context, message }));
  const key = { ...scene.participants.application.key, subscriberId: id };
  const authorization = signRequest(key, body, { now });
  const answer = await exchange(scene.urls[role], action.path, {
    ...{ method: 'POST', body, headers: { authorization, 'x-request-id': requestId } },
  });
  if (isAccepted(answer)) return accepted;
  const code = judgeNack(answer);
  if (!expected.has(code)) throw new Fault(`a lie of the registry is answered with ${answer.status} ${code}`);
  return code === 'BIZ_NO_RESULTS_FOUND' ? accepted : code;
}

/** The sender is unknown, its key is unusable, or the registry cannot say; or it is not the one that the context names. */
const expected: ReadonlySet<string> = new Set([
  ...['AUT_SUBSCRIBER_NOT_FOUND', 'AUT_KEY_NOT_FOUND', 'AUT_KEY_EXPIRED_OR_REVOKED', 'AUT_SIGNATURE_INVALID'],
  ...['NET_DOWNSTREAM_UNAVAILABLE', 'AUT_UNAUTHORIZED_ACTION', 'BIZ_NO_RESULTS_FOUND', 'CTX_INVALID_FIELD'],
]);

function truth(name: string, url: string, publicKey: string) {
  const at = '2026-01-31T12:00:00Z';
  return {
    message: 'Record found.',
    data: {
      ...{ record_id: 'key-1', record_name: 'key-1', namespace: name, registry_name: registryName },
      details: { subscriber_id: name, url, type: 'BAP', signing_public_key: publicKey, valid_from: at },
      ...{ meta: {}, network_memberships: [network], state: 'live', version: '1', version_count: 1 },
      ...{ ttl: 0, created_at: at, updated_at: at },
    },
  };
}
