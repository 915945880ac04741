import { type ErrorBody, type ErrorCode, errorBody, ProtocolError } from './errors.ts';
import { jsonPath } from './json.ts';

/** The path of a value in a document: member names and array indexes, from the root. */
export type Segments = readonly (string | number)[];

/** A member name may be as long as a body. Sensible names are shorter than this. */
const maxNameLength = 512;

/** The error about one value: `message.catalogs[0].id is missing`, with its JSONPath, or the path of its parent if its name is too long. */
export function faultAt(code: ErrorCode, segments: Segments, problem: string): ProtocolError {
  const firstLong = segments.findIndex((segment) => String(segment).length > maxNameLength);
  const path = jsonPath(firstLong === -1 ? segments : segments.slice(0, firstLong));
  const name = jsonPath(segments.map(shown)).replace(/^\$\.?/, '') || 'the body';
  return new ProtocolError(code, `${name} ${problem}`, { path });
}

/** The same in the form that is sent, by default with the code of refusals by the catalog and its rules. */
export function refusalAt(
  segments: Segments,
  problem: string,
  code: ErrorCode = 'BIZ_GENERIC_ERROR',
): ErrorBody {
  return errorBody(faultAt(code, segments, problem));
}

function shown(segment: string | number): string | number {
  return typeof segment === 'string' && segment.length > maxNameLength ? `${segment.slice(0, 32)}…` : segment;
}
