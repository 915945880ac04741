import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { actions } from '../../../src/protocol/actions.ts';
import { errorStatus } from '../../../src/protocol/errors.ts';
import { sampleCatalog } from '../../support/hosted/hosted-documents.ts';
import { arbitraryValue } from '../../support/values/arbitrary-value.ts';
import { type ClientResult, checkEnded } from '../client-calls.ts';
import { type ByteMutation, bytesSometimes, mutateBytes } from '../mutate-bytes.ts';
import { mutateText, mutations } from '../mutate-json.ts';
import { network } from '../participants.ts';
import type { Scene } from '../scene.ts';
import { accepted, type Target } from '../target.ts';

// Answers to requests of the client package, from a service that answers with anything.

type Method = keyof typeof methods;

interface AnswerCase {
  method: Method;
  status: number;
  headers: Record<string, string>;
  /** JSON text. */
  body: string;
  bytes: readonly ByteMutation[];
}

const subscriptionId = '0b6b2f6e-5b86-4a43-8a3c-0b7a6a2c1f01';
const methods = {
  subscribe: { action: actions.subscribe, args: [{ networkIds: [network] }] },
  subscriptions: { action: actions.listSubscriptions, args: [{}] },
  unsubscribe: { action: actions.unsubscribe, args: [subscriptionId] },
  search: { action: actions.search, args: [{}] },
  discover: { action: actions.discover, args: ['tea'] },
  publish: { action: actions.publish, args: [sampleCatalog] },
} as const;
const names = Object.keys(methods) as Method[];

export const clientAnswers: Target<AnswerCase> = {
  name: 'answers to the client package',
  weight: 5,
  concurrency: 8,
  cases: fc.constantFrom(...names).chain((method) =>
    fc.record({
      method: fc.constant(method),
      status: fc.oneof(
        { weight: 4, arbitrary: fc.constant(200) },
        { weight: 1, arbitrary: fc.constantFrom(202, 204, 301, 304, 400, 401, 404, 413, 429, 500, 503) },
      ),
      headers: fc.oneof(
        { weight: 4, arbitrary: fc.constant<Record<string, string>>({}) },
        {
          weight: 1,
          arbitrary: fc.constantFrom<Record<string, string>>(
            { 'content-encoding': 'gzip' },
            { 'content-type': 'text/html' },
            { location: 'http://127.0.0.1:1/' },
            { 'retry-after': 'never' },
            { signature: 'Signature keyId="a|b|c"' },
            { signature: 'x' },
          ),
        },
      ),
      body: fc
        .tuple(arbitraryValue(methods[method].action.answer), mutations)
        .map(([valid, changes]) => mutateText(valid, changes)),
      bytes: bytesSometimes(),
    }),
  ),
  run: runAnswer,
};

async function runAnswer(scene: Scene, one: AnswerCase, id: string): Promise<string> {
  const { method, status, headers, body, bytes } = one;
  const { action, args } = methods[method];
  const { services, client } = scene;
  const path = `/${id}${action.path}`;
  services.answer(path, () => ({ status, headers, body: mutateBytes(Buffer.from(body), bytes) }));
  try {
    const options = { to: `${services.url}/${id}`, transactionId: randomUUID(), callbackTimeoutMs: 1 };
    const ended = checkEnded((await client.ask({ method, args: [...args, options] })) as ClientResult);
    if (ended.kind === 'done') return accepted;
    return Object.hasOwn(errorStatus, ended.code) ? ended.code : 'a code of the service';
  } finally {
    services.answer(path, undefined);
  }
}
