import { isJsonObject } from './json.ts';

/** The messageId that a NACK repeats, from a body that may be invalid otherwise. */
export function findMessageId(body: unknown): string | undefined {
  if (!isJsonObject(body) || !isJsonObject(body.context)) return undefined;
  const { messageId } = body.context;
  return typeof messageId === 'string' && mayBeMessageId(messageId) ? messageId : undefined;
}

export const maxMessageIdLength = 128;

/** No message may contain U+0000, and PostgreSQL rejects a statement with it. */
export function mayBeMessageId(text: string): boolean {
  return text.length >= 1 && text.length <= maxMessageIdLength && !text.includes('\0');
}
