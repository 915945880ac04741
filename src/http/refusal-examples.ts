import { type ErrorCode, ProtocolError, type ProtocolErrorOptions } from '../protocol/errors.ts';
import type { Segments } from '../protocol/fault.ts';

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

/** A change that the reader of the request refuses: `message.catalogs.0.id` has another value, or none. */
export type WrongValue = readonly [name: string, summary: string, path: string, value?: unknown];

/** Adds the error of each wrong value: what `read` throws for the example with that change. */
export function refusalExamples(
  example: object,
  read: (request: Record<string, unknown>) => void,
  rows: readonly (WrongValue | RefusalExample)[],
): RefusalExample[] {
  return rows.map((row) => {
    if ('error' in row) return row;
    const [name, summary, path, value] = row;
    const change = { at: segments(path), value };
    // Like a request: a member without a value is not there.
    const request = JSON.parse(JSON.stringify(withValue(example, change.at, value)));
    return { name, summary, change, error: refusalOf(() => read(request)) };
  });
}

function withValue(document: unknown, [name, ...rest]: Segments, value: unknown): unknown {
  if (name === undefined) return value;
  if (Array.isArray(document))
    return document.with(Number(name), withValue(document[Number(name)], rest, value));
  const members = (document ?? {}) as Record<string, unknown>;
  return { ...members, [name]: withValue(members[name], rest, value) };
}

function refusalOf(read: () => void): ProtocolError {
  try {
    read();
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
  throw new Error('the example of a refusal is accepted');
}

export function refusalExample(
  name: string,
  summary: string,
  [code, message, options]: readonly [ErrorCode, string, ProtocolErrorOptions?],
  change?: Change,
): RefusalExample {
  return { name, summary, error: new ProtocolError(code, message, options), ...(change && { change }) };
}

export function segments(path: string): Segments {
  return path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

export function invalidJson(value: string): RefusalExample {
  const problem = `the text ends where a value is expected, at line 1, column ${value.length + 1}`;
  return refusalExample('json', 'The body is not JSON', ['SCH_INVALID_JSON', problem], { at: [], value });
}
