import { once } from 'node:events';

/** One Ctrl-C comes from the terminal, and once more from npm, which passes it on. */
export const sameSignalMs = 500;

/** As shells have it for SIGINT. */
export const interruptedExitCode = 130;

/** Its signal is aborted by the first Ctrl-C. A second one, later than `sameSignalMs`, kills the process, as without a listener. */
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
    /** After an interrupt the listener stays for its time: npm's signal may come when the work has ended already. */
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
