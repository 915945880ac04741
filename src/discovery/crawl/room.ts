// How much of what others host is in memory at a time, over all hosts. A piece of work takes room for each file before it opens it, and gives
// all of it back when it is done. Whoever finds no room waits in line; and because work may take more while it holds some, the first in line
// goes ahead when everybody who holds room waits for more.

export interface Room {
  /** For one piece of work. */
  open(): Share;
}

export interface Share {
  /** Waits for room for this many bytes. Rejects with the signal's reason if that comes first. */
  take(bytes: number, signal: AbortSignal): Promise<void>;
  /** Whether more should be fetched for it: it holds some room, and must get on, or nobody waits for any. */
  mayFetch(): boolean;
  /** Waits until those who wait now have got theirs. */
  pass(signal: AbortSignal): Promise<void>;
  close(): void;
}

export function createRoom(totalBytes: number): Room {
  const waiting = new Set<Waiter>();
  let used = 0;
  /** Shares that hold something and do not wait. */
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

  return {
    open() {
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
    },
  };
}

interface Waiter {
  bytes: number;
  enter(): void;
}
