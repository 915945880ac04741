import { type ErrorCode, ProtocolError } from './errors.ts';
import { jsonPath } from './json.ts';

/** Where something stands in a document: member names and array indexes, from the root. */
export type Segments = readonly (string | number)[];

/**
 * The error about one value of a document: `message.catalogs[0].id is missing`, with the JSONPath of that
 * value.
 */
export function faultAt(code: ErrorCode, segments: Segments, problem: string): ProtocolError {
  const path = jsonPath(segments);
  const name = segments.length === 0 ? 'the body' : path.replace(/^\$\.?/, '');
  return new ProtocolError(code, `${name} ${problem}`, { path });
}
