import { errorBody, ProtocolError } from '../../protocol/errors.ts';
import type { Segments } from '../../protocol/fault.ts';
import { isJsonObject, type Json, parseJson } from '../../protocol/json.ts';
import { locateValues, segmentsOf } from '../../protocol/json-positions.ts';
import type { Fault } from '../answers/publish.ts';

// Reads pasted text (a publish request, a catalog, or an array of catalogs) and finds the place of a fault in it.

type PastedText = ReturnType<typeof wrapped>;

export function readPasted(text: string): PastedText {
  const value = parseJson(Buffer.from(text));
  if (Array.isArray(value)) return wrapped({ catalogs: value }, ['message', 'catalogs']);
  if (isJsonObject(value) && 'message' in value) return wrapped(value.message, []);
  if (isJsonObject(value) && 'catalogs' in value) return wrapped(value, ['message']);
  return wrapped({ catalogs: [value] }, ['message', 'catalogs', 0]);
}

function wrapped(message: Json | undefined, around: Segments) {
  return {
    message,
    locate(path: string | undefined): Segments {
      const segments = path === undefined ? [] : segmentsOf(path);
      return around.every((segment, at) => segments[at] === segment) ? segments.slice(around.length) : [];
    },
  };
}

export function placeFaults(
  text: string,
  pasted: PastedText,
  faults: readonly { code?: string; message: string; details?: { path?: string } }[],
): Fault[] {
  const positions = locateValues(
    text,
    faults.map(({ details }) => pasted.locate(details?.path)),
  );
  return faults.map(({ code = 'warning', message, details }, at) => ({
    ...{ code, message },
    ...(details?.path !== undefined && { path: details.path }),
    ...positions[at],
  }));
}

/** A JSON error contains the place in its message. */
export function syntaxFault(error: unknown): Fault {
  if (!(error instanceof ProtocolError)) throw error;
  const { code, message } = errorBody(error);
  const [, line, column] = /line (\d+), column (\d+)/.exec(message) ?? [];
  return {
    ...{ code, message, hint: 'JSON: names and texts in double quotes, no comma after the last member.' },
    ...(line !== undefined && { line: Number(line), column: Number(column) }),
  };
}
