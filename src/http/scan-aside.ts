import type { Logger } from '../logger.ts';
import { overloaded } from '../protocol/errors.ts';
import { messageIdScanUrl } from '../protocol/message-id-scan.ts';
import { createThreadPool, DeadlineExceeded } from '../thread-pool.ts';

// Looks for the messageId of large callbacks in a thread of its own, which the first of them starts.

interface MessageIdScanner {
  scan(body: Buffer): Promise<string | undefined>;
  close(): Promise<void>;
}

/** The largest body takes some hundredths of a second; a new thread takes longer than that to start, and seconds on a busy machine. */
const deadlineMs = 60_000;

export function createMessageIdScanner(logger: Logger): MessageIdScanner {
  const threads = createThreadPool({ size: 1, logger });
  return {
    scan: (body) =>
      threads
        .run<string | undefined>({ module: messageIdScanUrl, name: 'scanMessageId', input: body, deadlineMs })
        .catch((error) => {
          if (!(error instanceof DeadlineExceeded)) throw error;
          throw overloaded('Too many callbacks are being looked into.', { cause: error });
        }),
    close: () => threads.close(),
  };
}
