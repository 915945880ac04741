import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { signTimes } from '../../../src/delivery/bodiless-signature.ts';
import { allRefusalExamples } from '../../../src/http/openapi-refusals.ts';
import { type Action, actions } from '../../../src/protocol/actions.ts';
import { createAjv } from '../../../src/protocol/ajv.ts';
import { type ActionExamples, actionExamples } from '../../../src/protocol/example-messages.ts';
import { signRequest } from '../../../src/protocol/request-signature.ts';
import { samplePublishMessage } from '../../support/catalogs/sample-messages.ts';
import { arbitraryValue } from '../../support/values/arbitrary-value.ts';
import { hostileText } from '../hostile-values.ts';
import { exchange } from '../http-exchange.ts';
import { type ByteMutation, bytesSometimes, mutateBytes, noBytes } from '../mutate-bytes.ts';
import { mutate, mutations } from '../mutate-json.ts';
import { checkAnswerSignature, fault, isAccepted, judgeNack, parseBody } from '../oracle.ts';
import { network, type ParticipantName } from '../participants.ts';
import type { RoleName, Scene } from '../scene.ts';
import { accepted, Fault, type Target } from '../target.ts';

// Bad content with a valid signature: each action's examples and other values that its schema accepts, changed in a few places, then signed.

export type ActionId = keyof typeof actions;

export interface SignedCase {
  action: ActionId;
  role: 'catalog' | 'discovery' | 'publisher';
  signer: ParticipantName;
  /** With placeholders: {messageId}, {transactionId}, {now}, {id}, {url}, {case}, {subscription}. Empty for GET and DELETE. */
  body: string;
  /** As written in the address. */
  query: string;
  /** Changes of the bytes, before they are signed. */
  bytes: readonly ByteMutation[];
}

/** The receiver of an action, and the identities that the suite uses to send it. */
const routes: Record<ActionId, { role: SignedCase['role']; signers: ParticipantName[] } | undefined> = {
  subscribe: { role: 'catalog', signers: ['application'] },
  listSubscriptions: { role: 'catalog', signers: ['application'] },
  unsubscribe: { role: 'catalog', signers: ['application'] },
  publish: { role: 'catalog', signers: ['provider'] },
  onPublish: { role: 'publisher', signers: ['catalog'] },
  push: { role: 'discovery', signers: ['feed', 'catalog'] },
  pull: { role: 'catalog', signers: ['application'] },
  onPull: { role: 'discovery', signers: ['feed', 'catalog'] },
  search: { role: 'catalog', signers: ['application'] },
  discover: { role: 'discovery', signers: ['application'] },
  onDiscover: undefined, // received by consumers
  crawlLog: { role: 'discovery', signers: ['provider', 'application'] },
};

const ids = (Object.keys(actions) as ActionId[]).filter((id) => routes[id] !== undefined);

export const signedRequests: Target<SignedCase> = {
  name: 'signed requests, changed before signing',
  weight: 22,
  concurrency: 12,
  cases: fc
    .constantFrom(...ids, 'publish' as const, 'discover' as const, 'push' as const)
    .chain((action) => casesOf(action)),
  run: runSigned,
  finish: checkRefusedPublishes,
};

function casesOf(action: ActionId): fc.Arbitrary<SignedCase> {
  const { role, signers } = requireRoute(action);
  return fc.record({
    action: fc.constant(action),
    role: fc.constant(role),
    signer: fc.constantFrom(...signers),
    body: arbitraryBody(action),
    query: arbitraryQuery(actions[action], actionExamples[action]),
    bytes: actions[action].method === 'POST' ? bytesSometimes(9) : noBytes,
  });
}

function requireRoute(action: ActionId) {
  const route = routes[action];
  if (!route) throw new Error(`no role of ours receives ${action}`);
  return route;
}

export function arbitraryBody(id: ActionId): fc.Arbitrary<string> {
  const action: Action = actions[id];
  if (!action.body) return fc.constant('');
  const examples = Object.values(actionExamples[id].bodies).map(({ value }) => (value as Envelope).message);
  const samples = id === 'publish' || id === 'push' ? [samplePublishMessage()] : [];
  const { message: shape } = action.body.properties;
  const message: fc.Arbitrary<unknown> = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...examples, ...samples) },
    { weight: 1, arbitrary: arbitraryValue(shape) },
  );
  return fc
    .tuple(message, mutations, fc.integer({ min: 0, max: 9 }), mutations)
    .map(([valid, changes, chance, ofContext]) => {
      const context = contextOf(action);
      return JSON.stringify({
        context: chance === 0 ? mutate(context, ofContext) : context,
        message: mutate(withOwnIds(id, valid), changes),
      });
    });
}

interface Envelope {
  message: unknown;
}

/** A unique catalog, so that the case can search for it, and an existing subscription. */
function withOwnIds(id: ActionId, message: unknown): unknown {
  const text = JSON.stringify(message);
  if (id === 'pull')
    return JSON.parse(text.replace(/"subscriptionId":"[^"]*"/, '"subscriptionId":"{subscription}"'));
  if (id !== 'publish') return message;
  const { catalogs } = message as { catalogs?: { id: string }[] };
  const [first] = catalogs ?? [];
  return first ? JSON.parse(text.replaceAll(JSON.stringify(first.id), '"{case}"')) : message;
}

function contextOf({ name, caller, kind }: Action) {
  const side = caller ?? 'bap';
  return {
    ...{ version: '2.0.0', action: name, messageId: '{messageId}', transactionId: '{transactionId}' },
    ...{ timestamp: '{now}', [`${side}Id`]: '{id}', [`${side}Uri`]: '{url}' },
    ...(kind === 'callback' && { requestDigest: { digest: 'BLAKE-512=b6lf6lRgOweajukcvcLsag==' } }),
  };
}

function arbitraryQuery({ query }: Action, { query: example = {} }: ActionExamples): fc.Arbitrary<string> {
  const names = Object.keys({ ...(query?.properties ?? {}), ...example });
  if (names.length === 0) return fc.constant('');
  const values = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(...Object.values(example).map(String), '{subscription}', 'ACTIVE', '1'),
    },
    { weight: 2, arbitrary: hostileText.map((text) => encodeURIComponent(Buffer.from(text).toString())) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('%zz', '%00', '%ff', '%', '-1', '1e3', '0', '999999999999', '+1', ''),
    },
  );
  const pair = fc.tuple(fc.constantFrom(...names, ...names, 'other', '__proto__', 'limit[]'), values);
  return fc
    .array(pair, { maxLength: 4 })
    .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'));
}

const refusedPublishes = new WeakMap<Scene, Set<string>>();

async function runSigned(scene: Scene, one: SignedCase, id: string): Promise<string> {
  const action: Action = actions[one.action];
  const { body, authorization, key, path } = await signCase(scene, one, id);
  const answer = await exchange(scene.urls[one.role], path, {
    method: action.method,
    headers: { authorization, 'content-type': 'application/json', 'x-request-id': id },
    ...(action.body && { body }),
  });
  checkAnswerSignature(answer, scene.participants[one.role].key, authorization);
  if (!isAccepted(answer)) {
    const code = judgeNack(answer);
    if (!documentedOf(one.action).has(`${answer.status} ${code}`))
      throw fault(`${one.action} does not document this refusal`, answer);
    if (one.action === 'publish') noteRefused(scene, key);
    return code;
  }
  if (!validatorOf(one.action)(parseBody(answer)))
    throw fault('the answer is not as its schema says', answer);
  return accepted;
}

export interface SignedRequest {
  body: Buffer;
  authorization: string;
  path: string;
  /** The id of its catalog, if it is a publish. */
  key: string;
}

export async function signCase(scene: Scene, one: SignedCase, id: string): Promise<SignedRequest> {
  const action: Action = actions[one.action];
  const { id: name, url, key: signingKey } = scene.participants[one.signer];
  const now = new Date();
  const values: Record<string, string> = {
    ...{ messageId: randomUUID(), transactionId: randomUUID(), now: now.toISOString() },
    ...{ id: name, url, case: id, subscription: await subscriptionOf(scene) },
  };
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (whole, member: string) => values[member] ?? whole);
  const body = mutateBytes(Buffer.from(fill(one.body)), one.bytes);
  const authorization = signRequest(signingKey, body, signTimes(action.method, now));
  const query = fill(one.query);
  return { body, authorization, path: action.path + (query === '' ? '' : `?${query}`), key: id };
}

function noteRefused(scene: Scene, id: string): void {
  const known = refusedPublishes.get(scene) ?? new Set();
  refusedPublishes.set(scene, known.add(id));
}

/** A refused publish must leave nothing behind. */
async function checkRefusedPublishes(scene: Scene): Promise<void> {
  const refused = [...(refusedPublishes.get(scene) ?? [])];
  const { rows } = await scene.database.query<{ id: string }>(
    'select id from catalog.catalog where id = any($1)',
    [refused],
  );
  if (rows.length > 0)
    throw new Fault(`catalogs of refused publishes: ${rows.map((row) => row.id).join(', ')}`);
}

const ajv = createAjv({ everyFault: false });
const validators = new Map<ActionId, (value: unknown) => boolean>();

function validatorOf(id: ActionId): (value: unknown) => boolean {
  const known = validators.get(id) ?? ajv.compile(actions[id].answer);
  validators.set(id, known);
  return known;
}

const documented = new Map<ActionId, Set<string>>();

/** The status and code of every refusal in its OpenAPI document. */
function documentedOf(id: ActionId): Set<string> {
  const examples = allRefusalExamples(id, actions[id]);
  const known = documented.get(id) ?? new Set(examples.map(({ error }) => `${error.status} ${error.code}`));
  documented.set(id, known);
  return known;
}

const subscriptions = new WeakMap<Scene, Promise<string>>();

/** A subscription of the application, for requests that name one. */
function subscriptionOf(scene: Scene): Promise<string> {
  const known = subscriptions.get(scene) ?? subscribe(scene);
  subscriptions.set(scene, known);
  return known;
}

async function subscribe({ participants: { application }, urls }: Scene): Promise<string> {
  const now = new Date();
  const context = {
    ...{
      version: '2.0.0',
      action: actions.subscribe.name,
      messageId: randomUUID(),
      transactionId: randomUUID(),
    },
    ...{ timestamp: now.toISOString(), bapId: application.id, bapUri: application.url },
  };
  const message = { subscription: { networkIds: [network] } };
  const body = Buffer.from(JSON.stringify({ context, message }));
  const answer = await exchange(urls.catalog, actions.subscribe.path, {
    ...{ method: 'POST', body, headers: { authorization: signRequest(application.key, body, { now }) } },
  });
  if (answer.status !== 200) throw fault('a valid subscription was refused', answer);
  return JSON.parse(answer.body.toString()).message.subscriptions[0].subscriptionId;
}

export const roleOf = (action: ActionId): RoleName => requireRoute(action).role;
