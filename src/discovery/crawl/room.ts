// Limits the memory for fetched files, over all hosts. Work takes room before it opens a file, and releases all of it at the end. If all holders of
// room wait for more, the first in line goes ahead.

export type Room = () => Share;

export interface Share {
  /** Waits for room for this many bytes. Rejects with the signal's reason if that comes first. */
  take(bytes: number, signal: AbortSignal): Promise<void>;
  /** Whether to fetch more for it: it holds some room and must proceed, or nobody is waiting. */
  mayFetch(): boolean;
  /** Waits until all current waiters got their room. */
  pass(signal: AbortSignal): Promise<void>;
  close(): void;
}

export function createRoom(totalBytes: number): Room {
  const waiting = new Set<Waiter>();
  let used = 0;
  /** Shares that hold room and do not wait. */
  const active = new Set<Share>();

  function admit(): void {
    for (const waiter of waiting) {
      const fits = used + waiter.bytes <= totalBytes || active.size === 0;
      if (!fits) return;
      waiting.delete(waiter);
      waiter.enter();
    }
  }

  function wait(bytes: number, signal: AbortSignal, enter: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        bytes,
        enter() {
          signal.removeEventListener('abort', giveUp);
          enter();
          resolve();
        },
      };
      const giveUp = () => {
        waiting.delete(waiter);
        reject(signal.reason);
        admit();
      };
      if (signal.aborted) return reject(signal.reason);
      waiting.add(waiter);
      signal.addEventListener('abort', giveUp, { once: true });
      admit();
    });
  }

  return () => {
    let held = 0;
    const share: Share = {
      take(bytes, signal) {
        active.delete(share);
        return wait(bytes, signal, () => {
          held += bytes;
          used += bytes;
          if (held > 0) active.add(share);
        });
      },
      mayFetch: () => held > 0 || waiting.size === 0,
      pass: (signal) => wait(0, signal, () => undefined),
      close() {
        used -= held;
        held = 0;
        active.delete(share);
        admit();
      },
    };
    return share;
  };
}

interface Waiter {
  bytes: number;
  enter(): void;
}
