import { isJsonObject } from './json.ts';

/** The messageId that a NACK repeats, from a body that need not be valid otherwise. */
export function findMessageId(body: unknown): string | undefined {
  if (!isJsonObject(body) || !isJsonObject(body.context)) return undefined;
  const { messageId } = body.context;
  return typeof messageId === 'string' && messageId.length >= 1 && messageId.length <= 128
    ? messageId
    : undefined;
}
