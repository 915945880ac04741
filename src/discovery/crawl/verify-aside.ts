import { createBreaks } from '../../breaks.ts';
import { type PlainError, reviveError } from '../../carried-error.ts';
import { createSlots } from '../../delivery/slots.ts';
import type { Logger } from '../../logger.ts';
import { joinJson } from '../../protocol/json-pieces.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import type { Keys } from '../../rules/self-hosted/signer.ts';
import type { GenuineBaseline, GenuineChange } from '../../rules/self-hosted/trust-files.ts';
import type { JudgedEntries, TrustedIndex } from '../../rules/self-hosted/trust-index.ts';
import { createThreadPool, DeadlineExceeded } from '../../thread-pool.ts';
import { hostOf } from './fetch.ts';
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

// Verifies large files in a separate thread, one at a time and fairly among hosts, so that requests to the service do not wait.

export type Aside = ReturnType<typeof createAside>;

type Keyless<T> = Omit<T, 'keys'>;

/** The state of these keys in the registry; without names, of the keys that the node probably signs with. */
export type FindKeys = (names?: readonly string[]) => Promise<Keys>;

/** Decompressed files of this size are verified in a thread: verification blocks for about 30 ms. */
export const asideBytes = 512 * 1024;

export function createAside({ logger, deadlineMs }: { logger: Logger; deadlineMs: number }) {
  const threads = createThreadPool({ size: 1, logger });
  const slots = createSlots({ total: 1, perParty: 1 });

  async function perform(work: (task: never) => Verdict, input: OpenTask, signal: AbortSignal) {
    const { url } = input.file;
    const leave = await slots.enter(hostOf(url), signal);
    try {
      const module = new URL(threadModule, import.meta.url).href;
      const task = { module, name: work.name, input, deadlineMs, errors: [TrustFault] };
      return await threads.run<Verdict>(task);
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      const message = `Verifying ${url} takes longer than ${deadlineMs / 1000} s.`;
      throw new CrawlFault('verifies-too-slowly', message, { url, cause: error });
    } finally {
      leave();
    }
  }

  /** The initial keys rarely lack a claimed one: then it runs once more, with all. */
  async function performWithKeys<T>(
    work: (task: never) => Verdict,
    task: OpenTask,
    findKeys: FindKeys,
    signal: AbortSignal,
  ): Promise<T> {
    const keys = new Map(await findKeys());
    for (;;) {
      const verdict = await perform(work, { ...task, keys } as OpenTask, signal);
      if ('pieces' in verdict) return join<T>(verdict.pieces);
      for (const [name, lookup] of await findKeys(verdict.unknownKeys)) keys.set(name, lookup);
    }
  }

  return {
    verifyFile: (task: Keyless<FileTask>, findKeys: FindKeys, signal: AbortSignal) =>
      performWithKeys<GenuineBaseline | GenuineChange>(verifyFileHere, task, findKeys, signal),
    async verifyIndex(task: Keyless<IndexTask>, findKeys: FindKeys, signal: AbortSignal) {
      const judged = await performWithKeys<PackedIndex>(verifyIndexHere, task, findKeys, signal);
      const faults = judged.faults.map(({ fault, ...about }) => ({
        ...about,
        fault: reviveError(fault, [TrustFault]) as TrustFault,
      }));
      return { ...judged, faults };
    },
    async readNodeId(task: OpenTask, signal: AbortSignal): Promise<unknown> {
      const verdict = await perform(readNodeIdHere, task, signal);
      return 'pieces' in verdict ? (await join<{ nodeId?: unknown }>(verdict.pieces)).nodeId : undefined;
    },
    close: () => threads.close(),
  };
}

interface PackedIndex extends Pick<JudgedEntries, 'entries'> {
  index: TrustedIndex;
  faults: { catalogId?: string; fault: PlainError }[];
}

const threadModule = `./verify-thread${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`;

/** The value from the thread, which was verified there. */
async function join<T>(pieces: readonly string[]): Promise<T> {
  const joined = joinJson(pieces);
  const takeBreak = createBreaks();
  while (joined.next()) await takeBreak();
  return joined.value() as unknown as T;
}
