import type { Action } from '../protocol/actions.ts';
import { type ErrorCode, ProtocolError, type ProtocolErrorOptions } from '../protocol/errors.ts';
import { faultAt, type Segments } from '../protocol/fault.ts';

// Examples of refusals: the error, and the change of the example request that leads to it. A test sends each. action-refusals.ts has those of single actions.

export interface RefusalExample {
  name: string;
  summary: string;
  error: ProtocolError;
  change?: Change;
}

/** One value of the body, or of the query string under `query`, is another one; it is left out where there is no value. */
export interface Change {
  at: Segments;
  value?: unknown;
}

type Refused = readonly [code: ErrorCode, problem: string, at?: Segments];

/** The refusal of the example of a request in which one value was changed. */
export function changedExample(
  name: string,
  summary: string,
  change: Change,
  [code, problem, at = change.at]: Refused,
): RefusalExample {
  return { name, summary, change, error: faultAt(code, at, problem) };
}

export function refusalExample(
  name: string,
  summary: string,
  [code, message, options]: readonly [ErrorCode, string, ProtocolErrorOptions?],
  change?: Change,
): RefusalExample {
  return { name, summary, error: new ProtocolError(code, message, options), ...(change && { change }) };
}

/** `message.catalogs.0.id`, as segments. */
export function segments(path: string): Segments {
  return path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** The value at the path is another one; it is left out where there is no value. */
export function changed(name: string, summary: string, path: string, value: unknown, error: Refused) {
  return changedExample(name, summary, { at: segments(path), value }, error);
}

export function lacking(summary: string, path: string, name = 'missing') {
  return changed(name, summary, path, undefined, ['SCH_REQUIRED_FIELD_MISSING', 'is missing']);
}

export function noSuch(summary: string, path: string, value: string, allowed: string, name = 'enum') {
  return changed(name, summary, path, value, ['SCH_INVALID_ENUM', `must be one of ${allowed}`]);
}

export function invalid(name: string, summary: string, path: string, value: unknown, problem: string) {
  return changed(name, summary, path, value, ['SCH_SCHEMA_VALIDATION_FAILED', problem]);
}

export function empty(summary: string, path: string, value: unknown, place = path) {
  return changed('format', summary, path, value, [
    'SCH_INVALID_FORMAT',
    'must not be empty',
    segments(place),
  ]);
}

export function unknownMember(path: string, value: unknown) {
  return changed('unknownMember', 'A member that nobody knows', path, value, [
    'SCH_FIELD_NOT_ALLOWED',
    'is not allowed here',
  ]);
}

export function invalidJson(value: string) {
  const problem = `the text ends where a value is expected, at line 1, column ${value.length + 1}`;
  return refusalExample('json', 'The body is no JSON', ['SCH_INVALID_JSON', problem], { at: [], value });
}

/** Refusals of every action with a body. */
export function bodyRefusals({ name, kind, caller = 'bap', remembered }: Action): RefusalExample[] {
  const examples = [
    invalidJson('{"context":'),
    changed('contextMissing', 'The context has no messageId', 'context.messageId', undefined, [
      'CTX_MISSING_FIELD',
      'is missing',
    ]),
    changed('contextInvalid', 'A value of the context is wrong', 'context.timestamp', 'today', [
      'CTX_INVALID_FIELD',
      'must be a date-time such as 2026-01-31T12:00:00Z',
    ]),
    changed('action', 'The action is that of another endpoint', 'context.action', 'confirm', [
      'CTX_ACTION_MISMATCH',
      `must be ${name} at this endpoint`,
    ]),
    changed('version', 'An older version', 'context.version', '1.1.0', [
      'CTX_VERSION_UNSUPPORTED',
      'must be 2.0.0',
    ]),
  ];
  // A callback is never too late, may have members that nobody knows, and names no caller.
  if (kind === 'callback') return examples;
  examples.push(
    changed('ttl', 'The ttl is over', 'context.ttl', 'PT30S', [
      'CTX_TTL_EXPIRED',
      'has elapsed since 2026-01-31T12:00:00Z',
    ]),
    unknownMember('extra', {}),
    refusalExample(
      'others',
      'It is signed by another participant than the context names',
      [
        'AUT_UNAUTHORIZED_ACTION',
        'The request is signed by provider.example.org/subscribers.beckn.one, which is not grocer.example.org.',
        { path: `$.context.${caller}Id` },
      ],
      { at: ['context', `${caller}Id`], value: 'grocer.example.org' },
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
        { at: ['context', 'transactionId'], value: 'another' },
      ),
    );
  return examples;
}
