import type { Action } from '../protocol/actions.ts';
import { type ErrorCode, ProtocolError, type ProtocolErrorOptions } from '../protocol/errors.ts';
import { faultAt, type Segments } from '../protocol/fault.ts';

// Examples of refusals: the error of the answer, and how the example of the request has to be changed to get it. A test sends every one of them. Those of
// single actions are in action-refusals.ts.

export interface RefusalExample {
  name: string;
  summary: string;
  error: ProtocolError;
  /** What is different from the example of the request. */
  change?: Change;
}

/** One value of the body, or of the query string under `query`, is another one; it is left out where there is no value. */
export interface Change {
  at: Segments;
  value?: unknown;
}

/** The refusal of the example of a request in which one value was changed. */
export function changedExample(
  name: string,
  summary: string,
  change: Change,
  [code, problem, at = change.at]: readonly [code: ErrorCode, problem: string, at?: Segments],
): RefusalExample {
  return { name, summary, change, error: faultAt(code, at, problem) };
}

/** Another refusal, in its own words. */
export function refusalExample(
  name: string,
  summary: string,
  [code, message, options]: readonly [ErrorCode, string, ProtocolErrorOptions?],
  change?: Change,
): RefusalExample {
  return { name, summary, error: new ProtocolError(code, message, options), ...(change && { change }) };
}

const invalidJson = refusalExample(
  'json',
  'The body is no JSON',
  ['SCH_INVALID_JSON', 'the text ends where a value is expected, at line 1, column 12'],
  { at: [], value: '{"context":' },
);

/** What every action with a body refuses. */
export function bodyRefusals({ name, kind, caller = 'bap', remembered }: Action): RefusalExample[] {
  const context = (member: string) => ['context', member];
  const examples = [
    invalidJson,
    changedExample('contextMissing', 'The context has no messageId', { at: context('messageId') }, [
      'CTX_MISSING_FIELD',
      'is missing',
    ]),
    changedExample(
      'contextInvalid',
      'A value of the context is wrong',
      { at: context('timestamp'), value: 'today' },
      ['CTX_INVALID_FIELD', 'must be a date-time such as 2026-01-31T12:00:00Z'],
    ),
    changedExample(
      'action',
      'The action is that of another endpoint',
      { at: context('action'), value: 'confirm' },
      ['CTX_ACTION_MISMATCH', `must be ${name} at this endpoint`],
    ),
    changedExample('version', 'An older version', { at: context('version'), value: '1.1.0' }, [
      'CTX_VERSION_UNSUPPORTED',
      'must be 2.0.0',
    ]),
  ];
  // A callback is never too late, may have members that nobody knows, and names no caller.
  if (kind === 'callback') return examples;
  examples.push(
    changedExample('ttl', 'The ttl is over', { at: context('ttl'), value: 'PT30S' }, [
      'CTX_TTL_EXPIRED',
      'has elapsed since 2026-01-31T12:00:00Z',
    ]),
    changedExample('unknownMember', 'A member that nobody knows', { at: ['extra'], value: {} }, [
      'SCH_FIELD_NOT_ALLOWED',
      'is not allowed here',
    ]),
    refusalExample(
      'others',
      'It is signed by another participant than the context names',
      [
        'AUT_UNAUTHORIZED_ACTION',
        'The request is signed by provider.example.org/subscribers.beckn.one, which is not grocer.example.org.',
        { path: `$.context.${caller}Id` },
      ],
      { at: context(`${caller}Id`), value: 'grocer.example.org' },
    ),
  );
  if (remembered)
    examples.push(
      refusalExample(
        'repeated',
        'An earlier request had the same messageId',
        [
          'CTX_MESSAGE_ID_DUPLICATE',
          'An earlier request of this caller had the same messageId and another body.',
          { path: '$.context.messageId' },
        ],
        { at: context('transactionId'), value: 'another' },
      ),
    );
  return examples;
}
