import type { Config } from '../../config.ts';
import { inheritanceLimitsOf, withoutPublish } from '../../rules/inherited-bytes.ts';
import type { AcceptancePolicy } from '../../rules/self-hosted/acceptance.ts';
import type { Reader } from './reader.ts';
import type { Polling } from './schedule.ts';

// The settings for reading and accepting hosted catalogs, for the crawler and for commands, which need no database for it.

export function policyOf(config: Config): AcceptancePolicy {
  return {
    networkIds: config.DISCOVERY_NETWORKS,
    masterPublishers: config.MASTER_PUBLISHERS,
    enforceMembership: config.NETWORK_MEMBERSHIP === 'enforce',
    registryName: config.REGISTRY_NAME,
  };
}

export function pollingOf(config: Config): Polling {
  return {
    shortestMs: config.CRAWL_MIN_INTERVAL_SECONDS * 1000,
    longestMs: config.CRAWL_INTERVAL_SECONDS * 1000,
  };
}

export function readerOf(config: Config, parts: Pick<Reader, 'fetcher' | 'registry' | 'checker'>): Reader {
  return {
    ...parts,
    registryName: config.REGISTRY_NAME,
    requireManifest: config.REQUIRE_MANIFEST,
    allowUnsignedIndex: config.ALLOW_UNSIGNED_INDEX,
    cutoverFraction: config.CUTOVER_FRACTION,
    limits: {
      maxFileBytes: config.CRAWL_FILE_LIMIT,
      maxIndexBytes: config.CRAWL_INDEX_LIMIT,
      maxInflatedBytes: config.CRAWL_INFLATED_LIMIT,
      maxIndexes: config.CRAWL_MAX_INDEXES,
      maxEntries: config.CRAWL_MAX_ENTRIES,
      maxChanges: config.CRAWL_MAX_CHANGES,
      maxMasters: config.CRAWL_MAX_MASTERS,
      inherited: withoutPublish(inheritanceLimitsOf(config)),
    },
  };
}
