import type { IncomingHttpHeaders } from 'node:http';
import type { InboxItem } from './answers/debug.ts';

// The messages of the inbox, in the memory of this process. Anybody can send a message with a bad signature. Such messages are in a
// separate small ring buffer, so that they never push out a verified message.

const maxVerified = 150;
const maxUnverified = 50;
export const maxItems = maxVerified + maxUnverified;
/** Limit for the bodies of all verified messages, by their size in memory. */
const maxVerifiedBytes = 64 * 1024 * 1024;
/** A string takes up to two bytes per character. */
const bytesPerCharacter = 2;
export const maxUnverifiedBytes = 16 * 1024;

export function createInboxItems() {
  let items: InboxItem[] = [];
  return {
    add(item: InboxItem): void {
      items = dropSurplus([item, ...items]);
    },
    list: (limit: number): InboxItem[] => items.slice(0, limit),
    count: () => items.length,
    clear(): void {
      items = [];
    },
  };
}

export function dropSurplus(latestFirst: readonly InboxItem[]): InboxItem[] {
  let [verified, unverified, bytes] = [0, 0, 0];
  return latestFirst.filter((item) => {
    if (!item.verifies) return ++unverified <= maxUnverified;
    bytes += item.body.length * bytesPerCharacter;
    return ++verified <= maxVerified && bytes <= maxVerifiedBytes;
  });
}

/** Removes cookies, tokens and passwords, which would give access to other services. */
export function redactHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown = Object.entries(headers).filter(([name]) => name !== 'cookie');
  return Object.fromEntries(
    shown.map(([name, value]) => [
      name,
      name === 'authorization' && /^(bearer|basic) /i.test(String(value)) ? '…' : String(value),
    ]),
  );
}
