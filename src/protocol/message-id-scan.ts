import { attempt } from '../attempt.ts';
import { COLON, COMMA, endOfString, endOfValue, OPEN_BRACE, QUOTE, skipSpace } from './json-bytes.ts';
import { maxMessageIdLength, mayBeMessageId } from './message-id.ts';

/**
 * Finds `context.messageId` in the bytes of a JSON text in one pass that builds no values, for a callback that can only be verified with the request it answers. If there are several, the first counts; such a body is
 * refused after its signature. Also runs in a thread. In a text that is not JSON, the result is arbitrary.
 */
export function scanMessageId(body: Uint8Array): string | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const context = findMember(bytes, skipSpace(bytes, 0), 'context');
  const messageId = context === undefined ? undefined : findMember(bytes, context, 'messageId');
  if (messageId === undefined || bytes[messageId] !== QUOTE) return undefined;
  const text = readString(bytes, messageId, maxIdBytes);
  return text !== undefined && mayBeMessageId(text) ? text : undefined;
}

export const messageIdScanUrl = import.meta.url;

/** Each UTF-16 unit may be written as an escape of six bytes. */
const bytesPerUnit = 6;
const maxIdBytes = maxMessageIdLength * bytesPerUnit;

/** The start of the value of a member of the object at this position; undefined if there is no object, or no such member. */
function findMember(bytes: Buffer, object: number, name: string): number | undefined {
  if (bytes[object] !== OPEN_BRACE) return undefined;
  let at = skipSpace(bytes, object + 1);
  while (bytes[at] === QUOTE) {
    const isNamed = readString(bytes, at, name.length * bytesPerUnit) === name;
    at = skipSpace(bytes, endOfString(bytes, at));
    if (bytes[at] !== COLON) return undefined;
    at = skipSpace(bytes, at + 1);
    if (isNamed) return at;
    at = skipSpace(bytes, endOfValue(bytes, at));
    if (bytes[at] !== COMMA) return undefined;
    at = skipSpace(bytes, at + 1);
  }
  return undefined;
}

function readString(bytes: Buffer, quote: number, maxBytes: number): string | undefined {
  const end = endOfString(bytes, quote) - 1;
  if (end - quote - 1 > maxBytes || end >= bytes.length) return undefined;
  const text = bytes.toString('utf8', quote + 1, end);
  if (!text.includes('\\')) return text;
  return attempt(() => JSON.parse(`"${text}"`));
}
