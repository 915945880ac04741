import type { Action } from '../protocol/actions.ts';
import { exampleIds } from '../protocol/example-catalog.ts';
import type { Example } from '../protocol/example-messages.ts';
import { jsonPath } from '../protocol/json.ts';
import { settings } from '../setting-table.ts';
import { refusalExamplesOf } from './action-refusals.ts';
import { errorAnswer } from './error-answer.ts';
import { tooLarge } from './read-body.ts';
import { type Change, type RefusalExample, refusalExample } from './refusal-examples.ts';
import { headTooLarge } from './unreadable.ts';

// The refusals of a signed route (catalog spec: Errors): a description, with each code and an example of it.

export interface DescribedRefusal {
  description: string;
  examples: Record<string, Example>;
}

const meanings: Record<number, string> = {
  202: 'Received, but it has no effect; not a failure',
  400: 'The body, its context or a value in it is wrong, at details.path',
  401: 'The sender is not known, or the signature is not valid',
  403: 'The sender is not allowed to do that',
  404: 'There is no such subscription',
  413: 'The body is too large; split it across several requests',
  429: 'Too many requests; Retry-After says when to try again',
  500: 'A fault of the service',
  503: 'It cannot be answered right now; Retry-After says when to try again',
  504: 'It takes too long',
};

/** Refusals of any signed route for reasons outside the message. */
const sharedExamples: readonly RefusalExample[] = [
  refusalExample('unsigned', 'There is no signature', [
    'AUT_SIGNATURE_MISSING',
    'The request has no Authorization header.',
  ]),
  refusalExample('invalid', 'The body was changed after it was signed, or the key differs', [
    'AUT_SIGNATURE_INVALID',
    'the signature does not match the body and the key',
  ]),
  refusalExample('unknownKey', 'The registry does not know the key', [
    'AUT_KEY_NOT_FOUND',
    'The registry has no such key of this subscriber.',
  ]),
  refusalExample('revoked', 'The key was revoked', [
    'AUT_KEY_EXPIRED_OR_REVOKED',
    'The key cannot be used: the key is in state revoked.',
  ]),
  refusalExample('unknownSubscriber', 'The registry does not know the sender', [
    'AUT_SUBSCRIBER_NOT_FOUND',
    'The registry does not know this subscriber.',
  ]),
  refusalExample('often', 'Too often', [
    'AUT_RATE_LIMITED',
    'Too many requests from provider.example.org/subscribers.beckn.one.',
  ]),
  refusalExample('internal', 'A fault of the service', ['NET_INTERNAL_ERROR', 'internal error']),
  refusalExample('overloaded', 'Too busy', ['NET_OVERLOADED', 'The service is overloaded. Try again later.']),
  refusalExample('downstream', 'The registry cannot be queried', [
    'NET_DOWNSTREAM_UNAVAILABLE',
    'The registry cannot be reached.',
  ]),
];

function tooLargeFor(limit: Action['bodyLimit']): RefusalExample {
  const setting = limit === 'bulk' ? 'BULK_BODY_SIZE_LIMIT' : 'BODY_SIZE_LIMIT';
  const { parse, fallback } = settings[setting];
  const error = tooLarge(parse(fallback));
  return { name: 'large', summary: `Larger than ${setting} (its default)`, error };
}

/** The answer of the HTTP parser before the operation is known: 431, not signed. */
export const tooLongRefusal: DescribedRefusal = {
  description: `Address and headers are too long: ${headTooLarge.code}.`,
  examples: renderExamples([{ name: 'long', summary: 'The address is too long', error: headTooLarge }], {}),
};

export const sharedRefusals = groupByStatus(sharedExamples);

export function describeRefusals(id: string | undefined, action: Action): Record<string, DescribedRefusal> {
  return groupByStatus(ownExamples(id, action));
}

export function allRefusalExamples(id: string | undefined, action: Action): RefusalExample[] {
  return [...ownExamples(id, action), ...sharedExamples];
}

function ownExamples(id: string | undefined, action: Action): RefusalExample[] {
  return [...refusalExamplesOf(id, action), ...(action.body ? [tooLargeFor(action.bodyLimit)] : [])];
}

function groupByStatus(examples: readonly RefusalExample[]): Record<string, DescribedRefusal> {
  const statuses = [...new Set(examples.map(({ error }) => error.status))].sort();
  return Object.fromEntries(
    statuses.map((status) => {
      const given = examples.filter(({ error }) => error.status === status);
      const codes = [...new Set(given.map(({ error }) => error.code))].join(', ');
      const description = `${meanings[status] ?? 'Refused'}: ${codes}.`;
      return [status, { description, examples: renderExamples(given) }];
    }),
  );
}

/** In the form of OpenAPI, by the function that makes the answers of the service. */
export function renderExamples(
  examples: readonly RefusalExample[],
  { messageId }: { messageId?: string } = { messageId: exampleIds.message },
): Record<string, Example> {
  return Object.fromEntries(
    examples.map(({ name, summary, error, change }) => {
      const readId = error.code === 'SCH_INVALID_JSON' ? undefined : messageId;
      const value = errorAnswer(error, { messageId: readId }).body as object;
      return [name, { summary, ...(change && { description: describeChange(change) }), value }];
    }),
  );
}

function describeChange({ at, value }: Change): string {
  if (at.length === 0) return `The body is ${value}`;
  const place = jsonPath(at);
  return value === undefined ? `${place} is left out.` : `${place} is ${JSON.stringify(value)}.`;
}
