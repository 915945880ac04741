import type { KeyObject } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Logger } from '../logger.ts';
import type { Check } from '../rules/check-attributes.ts';
import { withFileLock } from '../storage/file-lock.ts';
import type { BuildOptions } from './build.ts';
import { type ContentMemory, createContentMemory } from './content-memory.ts';
import type { Seal } from './seal.ts';
import { clearDrafts, type Place } from './write.ts';

/** The directory of a publisher. It is the publisher's whole state: there is no database. */
export interface PublisherTree extends Place, Seal {
  lockDirectory: string;
  /** The subscriberId in the registry, and the registry of bare domains. */
  nodeId: string;
  registryName: string;
  /** Keys that signed content that is still published, by record id. */
  oldKeys: ReadonlyMap<string, KeyObject>;
  schemas: { checker(): Check };
  limits: typeof defaultLimits;
  memory: ContentMemory;
  now(): Date;
  logger: Logger;
}

export interface PublisherTreeOptions
  extends Pick<PublisherTree, 'baseUrl' | 'nodeId' | 'registryName' | 'key' | 'schemas' | 'logger'>,
    Partial<Pick<PublisherTree, 'oldKeys' | 'profile' | 'memory' | 'now'>> {
  /** Contains the published files in `public`, and next to it the lock and the drafts. */
  directory: string;
  limits?: Partial<typeof defaultLimits>;
}

const defaultLimits = {
  nextUpdateSeconds: 86_400,
  compactionChanges: 20,
  compactionFraction: 0.5,
  lockWaitMs: 600_000,
};

export function openPublisherTree({ directory, limits, ...options }: PublisherTreeOptions): PublisherTree {
  return {
    oldKeys: new Map(),
    profile: 'spec',
    memory: createContentMemory(),
    now: () => new Date(),
    ...options,
    ...placesIn(directory),
    limits: { ...defaultLimits, ...limits },
  };
}

export function placesIn(directory: string) {
  const home = resolve(directory);
  return {
    root: join(home, 'public'),
    draftsDirectory: join(home, 'drafts'),
    lockDirectory: join(home, 'lock'),
  };
}

/** Allows one writer at a time, across processes; takes a dead writer's lock. */
export function withTreeLock<T>(tree: PublisherTree, work: () => Promise<T>): Promise<T> {
  return withFileLock(tree.lockDirectory, tree.limits.lockWaitMs, async () => {
    await clearDrafts(tree);
    return work();
  });
}

export function buildOptions(tree: PublisherTree, forceBaseline = false): BuildOptions {
  const { key, profile, baseUrl, limits } = tree;
  return { key, profile, baseUrl, now: tree.now(), ...limits, forceBaseline };
}

export type ReadableTree = Pick<PublisherTree, 'root'>;

export function placeOf(tree: ReadableTree, path: string): string {
  return join(tree.root, path);
}
