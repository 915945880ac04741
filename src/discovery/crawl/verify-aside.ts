import { createSlots } from '../../delivery/slots.ts';
import type { Logger } from '../../logger.ts';
import type { Keys } from '../../rules/self-hosted/signer.ts';
import { createThreadPool, DeadlineExceeded } from '../../thread-pool.ts';
import { hostOf } from './fetch.ts';
import { faultOf, type PackedFile, type PackedIndex } from './packed-files.ts';
import { CrawlFault } from './reasons.ts';
import {
  type FileTask,
  type IndexTask,
  type OpenTask,
  readNodeIdHere,
  type Verdict,
  verifyFileHere,
  verifyIndexHere,
} from './verify-thread.ts';

// Large files are verified in a thread of their own, so that nobody who asks the service waits meanwhile: not one of those that evaluate
// queries, which would be taken then. One file at a time, the hosts in turn.

export interface Aside {
  verifyFile(task: Keyless<FileTask>, findKeys: FindKeys, signal: AbortSignal): Promise<PackedFile>;
  verifyIndex(task: Keyless<IndexTask>, findKeys: FindKeys, signal: AbortSignal): Promise<PackedIndex>;
  readNodeId(task: OpenTask, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

type Keyless<T> = Omit<T, 'keys'>;

/** What the registry says of these keys; without names, of those that the node is likely to sign with. */
export type FindKeys = (names?: readonly string[]) => Promise<Keys>;

/** Decompressed files of this size are verified in a thread: verifying blocks for about 30 ms. */
export const asideBytes = 512 * 1024;
export function createAside({ logger, deadlineMs }: { logger: Logger; deadlineMs: number }): Aside {
  const threads = createThreadPool({ size: 1, logger });
  const slots = createSlots({ total: 1, perParty: 1 });

  async function perform<T>(
    work: (task: never) => Verdict<T>,
    task: OpenTask,
    signal: AbortSignal,
  ): Promise<Verdict<T>> {
    const { url } = task.file;
    const leave = await slots.enter(hostOf(url), signal);
    try {
      const module = new URL(threadModule, import.meta.url).href;
      return await threads.run<Verdict<T>>({ module, name: work.name, input: task, deadlineMs });
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      const message = `To verify ${url} takes longer than ${deadlineMs / 1000} s.`;
      throw new CrawlFault('verifies-too-slowly', message, { url, cause: error });
    } finally {
      leave();
    }
  }

  /** The keys that came along are rarely not all that are claimed: then once more, with the others. */
  async function performWithKeys<T>(
    work: (task: never) => Verdict<T>,
    task: OpenTask,
    findKeys: FindKeys,
    signal: AbortSignal,
  ): Promise<T> {
    const keys = new Map(await findKeys());
    for (;;) {
      const verdict = await perform(work, { ...task, keys } as OpenTask, signal);
      if (!('unknownKeys' in verdict)) return resultOf(verdict);
      for (const [name, lookup] of await findKeys(verdict.unknownKeys)) keys.set(name, lookup);
    }
  }

  return {
    verifyFile: (task, findKeys, signal) => performWithKeys(verifyFileHere, task, findKeys, signal),
    verifyIndex: (task, findKeys, signal) => performWithKeys(verifyIndexHere, task, findKeys, signal),
    async readNodeId(task, signal) {
      const verdict = await perform(readNodeIdHere, task, signal);
      return 'unknownKeys' in verdict ? undefined : resultOf(verdict);
    },
    close: () => threads.close(),
  };
}

const threadModule = `./verify-thread${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`;

function resultOf<T>(verdict: Exclude<Verdict<T>, { unknownKeys: string[] }>): T {
  if ('fault' in verdict) throw faultOf(verdict.fault);
  return verdict.value;
}
