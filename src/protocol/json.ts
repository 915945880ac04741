import { isUtf8 } from 'node:buffer';
import { ProtocolError } from './errors.ts';
import { JsonFault, scanJson } from './json-scan.ts';

/** A JSON value from `parseJson`. A member named `__proto__` is plain own data like any other. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [member: string]: Json };

/** Parses a foreign body, file or answer. Refuses texts that two readers could understand differently, so that the signed value is the processed value. */
export function parseJson(bytes: Uint8Array): Json {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  checkJson(buffer);
  try {
    return JSON.parse(buffer.toString('utf8'));
  } catch (error) {
    throw new ProtocolError('SCH_INVALID_JSON', 'longer than a text can be', { cause: error });
  }
}

export function checkJson(buffer: Buffer): void {
  if (!isUtf8(buffer))
    throw new ProtocolError('SCH_INVALID_JSON', `not UTF-8, at byte ${firstBadByte(buffer)}`);
  if (buffer.subarray(0, 3).equals(byteOrderMark))
    throw new ProtocolError('SCH_INVALID_JSON', 'begins with a byte order mark: save it without one');
  try {
    scanJson(buffer);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw new ProtocolError('SCH_INVALID_JSON', error.message, { cause: error });
  }
}

/** Parses foreign bytes for display: the JSON value, or the text if it is not JSON. */
export function parseIfJson(bytes: Buffer): Json {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** RFC 8259, section 8.1 forbids it, but some editors add it. */
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSONPath of `details.path`: dots if a name allows it, otherwise brackets: `$.context['@type'][0]`. */
export function jsonPath(segments: readonly (string | number)[]): string {
  return `$${segments.map(pathSegment).join('')}`;
}

function pathSegment(segment: string | number): string {
  if (typeof segment === 'number') return `[${segment}]`;
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(segment) ? `.${segment}` : `[${quoteName(segment)}]`;
}

/** A member name quoted as in a normalized path (RFC 9535 section 2.7). */
export function quoteName(name: string): string {
  return `'${JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** Decoding replaces invalid bytes by U+FFFD: the first difference after encoding again is the position. */
function firstBadByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'));
  const difference = bytes.findIndex((byte, index) => byte !== again[index]);
  return difference === -1 ? bytes.length : difference;
}
