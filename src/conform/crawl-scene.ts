import { setTimeout as delay } from 'node:timers/promises';
import { jwk } from '../publisher/manifest.ts';
import { CheckSkipped, memoize } from './check.ts';
import { createCrawlStages, createStrangerKey, soundCatalogs } from './crawl-stages.ts';
import { createHostedTree, type HostedTree, type HostedTreeOptions } from './hosted-tree.ts';
import type { Samples } from './sample-catalogs.ts';

// Tests how a discovery service crawls. Files are hosted at the identity's registered address, stage by stage; searches show what was indexed. The
// service crawls on its own schedule. It gets a hint if it accepts hints, which are our addition to the specification.

export type CrawlScene = ReturnType<typeof createCrawlScene>;

export interface CrawlSceneOptions extends Omit<HostedTreeOptions, 'formerKeys'> {
  samples: Samples;
  networkId: string;
  crawlWaitSeconds: number;
  finds(resourceId: string): Promise<boolean>;
  /** Sends a hint to crawl soon. Returns false if the service says that it does not crawl this node. */
  sendHint(): Promise<boolean>;
  serveBy(serve: HostedTree['serve']): void;
  /** Ends all waits, except during the cleanup. */
  signal: AbortSignal;
}

/** Time for a crawler to index a file after reading it. */
const settleMs = 1_000;
const lookAgainMs = 500;

export function createCrawlScene(options: CrawlSceneOptions) {
  const { key, samples, crawlWaitSeconds, finds, sendHint, signal } = options;
  const strangerKey = createStrangerKey(key);
  const formerKeys = [jwk(strangerKey.recordId, strangerKey.privateKey)];
  const tree = createHostedTree({ ...options, formerKeys });
  options.serveBy(tree.serve);
  let isHosted = false;
  const { stages, retireCatalogs } = createCrawlStages({ ...options, tree, strangerKey });

  const reached: (() => Promise<void>)[] = stages.map((stage, index) =>
    memoize(async () => {
      if (index > 0) await reached[index - 1]?.();
      isHosted = true;
      tree.lay(stage.write);
      if (!(await sendHint()))
        throw new CheckSkipped(`the service says that it does not crawl ${key.subscriberId}`);
      for (const name of stage.reads) await waitForRead(name);
    }),
  );

  async function waitForRead(name: string): Promise<void> {
    const hasSettled = () => Date.now() > (tree.readAt(name) ?? Number.POSITIVE_INFINITY) + settleMs;
    if (await waitUntil(hasSettled, signal)) return;
    throw new CheckSkipped(`no crawler has read ${name} at ${options.url} within ${crawlWaitSeconds} s`);
  }

  async function waitUntil(holds: () => boolean | Promise<boolean>, ended?: AbortSignal): Promise<boolean> {
    const end = Date.now() + crawlWaitSeconds * 1_000 + settleMs;
    while (!(await holds())) {
      if (Date.now() > end || ended?.aborted) return false;
      await delay(lookAgainMs);
    }
    return true;
  }

  /** Writes a stage after the previous one was read, and waits until it is read. Throws CheckSkipped if no crawler comes in time. */
  const reach = async (stage: number) => reached[stage - 1]?.();
  const isFound = (name: string) => finds(samples.id(name));
  /** Searches until a resource is found, or no longer found. Returns whether that happened in time. */
  const becomes = (name: string, wanted: 'found' | 'gone', ended: AbortSignal | undefined = signal) =>
    waitUntil(async () => (await isFound(name)) === (wanted === 'found'), ended);

  return {
    ...{ reach, isFound, becomes },
    missing: memoize(async () => {
      await reach(1);
      const outcomes = await Promise.all(soundCatalogs.map((name) => becomes(name, 'found')));
      return soundCatalogs.filter((_name, index) => !outcomes[index]);
    }),
    awaitRead: (name: string) => waitForRead(samples.id(name)),
    /** Retires all hosted catalogs, also after Ctrl-C. Returns whether the service has noticed. */
    async retireAll(): Promise<boolean> {
      if (!isHosted || !(await isFound('sound'))) return true;
      tree.lay(retireCatalogs);
      await sendHint();
      return becomes('sound', 'gone', new AbortController().signal);
    },
  };
}
