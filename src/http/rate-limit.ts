import type { Action } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';

/** Token buckets, one per key (an identity, or a source address). Memory is bounded: full buckets are forgotten first. */
export interface RateLimit {
  /** Takes one token. Returns 0 if there was one, otherwise the seconds until there is one. */
  take(key: string, nowMs: number): number;
  /** Takes tokens for a cost that is known only afterwards, even more than there are: the next `take` waits until they are refilled. */
  spend(key: string, tokens: number, nowMs: number): void;
  /** Refunds a token. */
  giveBack(key: string): void;
}

interface RateLimitOptions {
  /** Refilled tokens per second; 0 removes the limit. */
  perSecond: number;
  burst: number;
  maxKeys?: number;
}

const defaultMaxKeys = 20_000;

export function createRateLimit({ perSecond, burst, maxKeys = defaultMaxKeys }: RateLimitOptions): RateLimit {
  if (perSecond === 0) return unlimited;
  const buckets = new Map<string, Bucket>();
  const refill = (bucket: Bucket, nowMs: number) => {
    const gained = (Math.max(0, nowMs - bucket.atMs) / 1000) * perSecond;
    bucket.tokens = Math.min(burst, bucket.tokens + gained);
    bucket.atMs = nowMs;
    return bucket;
  };
  const bucketOf = (key: string, nowMs: number): Bucket => {
    const known = buckets.get(key);
    if (known) return refill(known, nowMs);
    if (buckets.size >= maxKeys) makeRoom(nowMs);
    const fresh = { tokens: burst, atMs: nowMs };
    buckets.set(key, fresh);
    return fresh;
  };
  /** Forgets full buckets, and the oldest quarter if that is not enough: rarely, so that many calls share the cost of the sweep. */
  const makeRoom = (nowMs: number) => {
    for (const [key, bucket] of buckets) if (refill(bucket, nowMs).tokens >= burst) buckets.delete(key);
    const surplus = buckets.size - Math.floor(maxKeys * 0.75);
    for (const key of [...buckets.keys()].slice(0, Math.max(0, surplus))) buckets.delete(key);
  };
  return {
    take(key, nowMs) {
      const bucket = bucketOf(key, nowMs);
      if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond;
      bucket.tokens -= 1;
      return 0;
    },
    spend(key, tokens, nowMs) {
      bucketOf(key, nowMs).tokens -= tokens;
    },
    giveBack(key) {
      const bucket = buckets.get(key);
      if (bucket) bucket.tokens = Math.min(burst, bucket.tokens + 1);
    },
  };
}

interface Bucket {
  tokens: number;
  atMs: number;
}

export const unlimited: RateLimit = { take: () => 0, spend: () => {}, giveBack: () => {} };

export interface RateLimits {
  identities: RateLimit;
  /** Charged before authentication and refunded after it: only unauthenticated requests stay charged. */
  sources: RateLimit;
  /** Exempt requests, such as pushes of services that we subscribed to. */
  exempt?: (identity: string, action: Action) => boolean;
}

/** One address may have several identities: a proxy, a machine with many roles. */
const identitiesPerSource = 4;

/** RATE_LIMIT_PER_SECOND, with twice that as burst. */
export function createRateLimits(
  perSecond: number,
  { exempt, share = ofThisProcess }: { exempt?: RateLimits['exempt']; share?: ShareLimit } = {},
): RateLimits {
  const perSource = perSecond * identitiesPerSource;
  return {
    identities: share('identities', createRateLimit({ perSecond, burst: perSecond * 2 })),
    sources: share('sources', createRateLimit({ perSecond: perSource, burst: perSource * 2 })),
    exempt,
  };
}

/** Makes a limit hold for all workers together. Each worker has one of that name. */
export type ShareLimit = (name: string, limit: RateLimit) => RateLimit;

export const ofThisProcess: ShareLimit = (_name, limit) => limit;

/** Takes a token for one request; throws AUT_RATE_LIMITED if there is none. */
export function chargeRequest(limit: RateLimit, key: string): void {
  charge(limit, key, `Too many requests from ${key}.`);
}

/** The same for any cost; `says` is the message for the caller. */
export function charge(limit: RateLimit, key: string, says: string): void {
  const retryAfterSeconds = limit.take(key, performance.now());
  if (retryAfterSeconds > 0) throw new ProtocolError('AUT_RATE_LIMITED', says, { retryAfterSeconds });
}
