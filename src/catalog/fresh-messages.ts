import type { PublishMessage } from '../protocol/publish-messages.ts';

/**
 * Messages that this process has just accepted and will most likely process itself: they need not be read from the database and parsed
 * once more. A shortcut and nothing else: what is not here is there.
 */
export interface FreshMessages {
  keep(submissionId: number, fresh: FreshMessage): void;
  /** The message, which is forgotten thereby. */
  take(submissionId: number): FreshMessage | undefined;
}

export interface FreshMessage {
  message: PublishMessage;
  /** Size of its body. */
  bytes: number;
}

/** Limit of all bodies. Messages that another process handled, or a backlog, displace the oldest. */
const maxKeptBytes = 32 * 1024 * 1024;

export function createFreshMessages(): FreshMessages {
  const kept = new Map<number, FreshMessage>();
  let keptBytes = 0;

  function take(submissionId: number): FreshMessage | undefined {
    const entry = kept.get(submissionId);
    if (entry === undefined) return undefined;
    kept.delete(submissionId);
    keptBytes -= entry.bytes;
    return entry;
  }

  return {
    keep(submissionId, fresh) {
      kept.set(submissionId, fresh);
      keptBytes += fresh.bytes;
      for (const oldest of kept.keys()) {
        if (keptBytes <= maxKeptBytes) return;
        take(oldest);
      }
    },
    take,
  };
}
