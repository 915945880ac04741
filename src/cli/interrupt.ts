import { once } from 'node:events';

/** One Ctrl-C arrives twice: from the terminal, and from npm, which forwards it. */
export const sameSignalMs = 500;

/** The shell convention for SIGINT. */
export const interruptedExitCode = 130;

/** The first Ctrl-C aborts the signal. Another one, later than `sameSignalMs`, kills the process, as without a listener. */
export function listenForInterrupt(onInterrupt: () => void): { signal: AbortSignal; close(): void } {
  const interrupted = new AbortController();
  const { signal } = interrupted;
  const remove = () => void process.off('SIGINT', end);
  const end = () => {
    if (signal.aborted) return;
    onInterrupt();
    interrupted.abort();
    setTimeout(remove, sameSignalMs).unref();
  };
  process.on('SIGINT', end);
  return {
    signal,
    /** After an interrupt, the listener stays for `sameSignalMs`: npm's signal may arrive after the end of the work. */
    close() {
      if (!signal.aborted) remove();
    },
  };
}

export async function untilStopped(ended = new AbortController()): Promise<void> {
  const stop = () => ended.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  if (!ended.signal.aborted) await once(ended.signal, 'abort');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
}
