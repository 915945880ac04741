import type { Config } from '../config.ts';
import { SettingsError } from '../settings.ts';

/** Settings whose values are divided among the workers, and the minimum for one worker. Rates are shared instead (http/shared-limits.ts). */
const divided = {
  DATABASE_CONNECTIONS: 2,
  OVERLOAD_WAITING_CONNECTIONS: 1,
  DISCOVER_CONCURRENCY: 2,
  MAX_CONNECTIONS: 1,
  MAX_CONNECTIONS_PER_SOURCE: 1,
  SEARCH_CACHE_PERCENT: 0,
  CRAWL_MEMORY_LIMIT: 1,
} as const;

/**
 * The settings of each worker. Only the first one runs the publisher: only one process may write its directory, and awaited callbacks are in the
 * memory of the process that received the request. It also runs the console, whose inbox is in memory. Both have little to do.
 */
export function divideSettings(config: Config): Config[] {
  const { WORKERS, DATABASE_CONNECTIONS: connections } = config;
  const others = config.roles.filter((role) => role !== 'publisher' && role !== 'console');
  if (others.length > 0 && connections < WORKERS * divided.DATABASE_CONNECTIONS)
    throw new SettingsError(
      `DATABASE_CONNECTIONS=${connections} is too few for WORKERS=${WORKERS}: each worker needs at least ${divided.DATABASE_CONNECTIONS}.`,
    );
  return Array.from({ length: others.length > 0 ? WORKERS : 1 }, (_, index) => ({
    ...config,
    ...partOf(config, index),
    roles: index === 0 ? config.roles : others,
  }));
}

function partOf(config: Config, index: number): Partial<Config> {
  const names = Object.keys(divided) as (keyof typeof divided)[];
  const parts = names.map((name) => {
    const part = Math.floor(config[name] / config.WORKERS);
    const isOneMore = index < config[name] % config.WORKERS;
    return [name, Math.max(divided[name], part + Number(isOneMore))];
  });
  return Object.fromEntries(parts);
}
