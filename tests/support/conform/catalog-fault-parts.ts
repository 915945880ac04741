import { generateSeed, privateKeyFromSeed } from '../../../src/protocol/keys.ts';
import type { Body } from '../network/actor.ts';
import type { PassedAnswer, PassedMessage, PassedRequest } from './broken-service.ts';
import type { When } from './request-faults.ts';

// The requests, answers and messages of a catalog service that planted faults change, and the changes.

export const search = '/catalog/search';
export const publish = '/catalog/publish';
export const pull = '/catalog/pull';
export const subscription = '/catalog/subscription';

/** The identity of the second caller in the tests. */
export const otherId = 'other.signpost.test';

export const isOther = ({ authorization = '' }: PassedRequest) =>
  authorization.includes(`keyId="${otherId}|`);
export const sent = ({ body }: PassedRequest): Body => body?.message ?? {};
export const at =
  (method: string, path: string, fits: When = () => true): When =>
  (request, answer) =>
    request.method === method && request.path === path && fits(request, answer);
export const refused =
  (path: string, fits: (message: Body) => unknown, status = 400): When =>
  (request, answer) =>
    answer.status === status && request.path === path && fits(sent(request));
export const created = at('POST', subscription, (_request, { status }) => status === 200);
export const ended = at('DELETE', subscription, (_request, { status }) => status === 200);
export const listed = (fits: (query: URLSearchParams) => unknown) =>
  at('GET', subscription, ({ query }, { status }) => status === 200 && fits(query));
export const found = (fits: (message: Body) => unknown): When =>
  at('POST', search, (request, { status }) => status === 200 && fits(sent(request)));

/** Changes the first subscription of an answer. */
export const first = (change: (subscription: Body) => void) => (answer: PassedAnswer) =>
  change(answer.body.message.subscriptions[0]);
export const named = (name: string) => (one: Body) => String(one.id ?? one.catalogId).endsWith(`-${name}`);
/** Changes a catalog of a search, if the answer has it. */
export const catalog = (name: string, change: (catalog: Body) => void) => (answer: PassedAnswer) =>
  answer.body.message.catalogs.filter(named(name)).forEach(change);
export const has = (one: Body, name: string) => one.resources.some(named(name));

export const onPublish = ({ action, body }: PassedMessage) =>
  action === 'catalog/on_publish' &&
  body.message.results.some(named('offers')) &&
  !body.message.results.some(named('master'));
export const resultOf =
  (name: string) =>
  ({ action, body }: PassedMessage) =>
    action === 'catalog/on_publish' && body.message.results.some(named(name));
export const result = (name: string, change: (result: Body) => void) => (message: PassedMessage) =>
  message.body.message.results.filter(named(name)).forEach(change);
export const isOrphans = ({ action, body }: PassedMessage) =>
  action === 'catalog/on_publish' &&
  body.message.results.length === 1 &&
  body.message.results.some(named('orphans'));
export const onPull = ({ action }: PassedMessage) => action === 'catalog/on_pull';
export const push = ({ action, body }: PassedMessage) =>
  action === 'catalog/push' && body.message.catalogs.some(named('chargers'));
export const stranger = () => ({
  ...{ subscriberId: '', recordId: '', privateKey: privateKeyFromSeed(generateSeed()) },
});

export function dropped(message: PassedMessage): void {
  message.isDropped = true;
}
