import { LruCache } from '../lru-cache.ts';
import type { PublishMessage } from '../protocol/publish-messages.ts';

/** Limit of all bodies. Messages that another process handled, or a backlog, displace the oldest. */
const maxKeptBytes = 32 * 1024 * 1024;

export type FreshMessages = ReturnType<typeof createFreshMessages>;

/** Messages that this process has just accepted and will most likely process itself, so that it need not read and parse them again. */
export function createFreshMessages() {
  return new LruCache<number, { message: PublishMessage; bytes: number }>(maxKeptBytes, ({ bytes }) => bytes);
}
