import type { Config } from '../config.ts';
import { charge, createRateLimit, ofThisProcess, type RateLimit, type ShareLimit } from './rate-limit.ts';

export type CostLimits = ReturnType<typeof createCostLimits>;

/** A bucket holds the refill of this time. */
const burstSeconds = 30;
/** A few bytes can request a large answer, and a megabyte of it takes about 60 ms of the main thread, ten times as long as a received one. */
const answers = { share: 1 / 8, burstSeconds: 2 };

/**
 * Limits the cost of an identity's requests in bytes and in milliseconds of the main thread; threads are shared by fair queueing (fair-turns.ts). A
 * request is charged when its cost is known, and the next one is refused until that is paid back. Nobody is exempt; each role counts separately.
 */
export function createCostLimits(
  config: Pick<Config, 'TIME_LIMIT_MS_PER_SECOND' | 'BYTE_LIMIT_PER_SECOND'>,
  share: ShareLimit = ofThisProcess,
) {
  const bucket = (name: string, perSecond: number, seconds = burstSeconds) =>
    share(name, createRateLimit({ perSecond, burst: perSecond * seconds }));
  const { TIME_LIMIT_MS_PER_SECOND: msPerSecond, BYTE_LIMIT_PER_SECOND: bytesPerSecond } = config;
  const [time, bytes] = [bucket('time', msPerSecond), bucket('bytes', bytesPerSecond)];
  const answered = bucket('answers', bytesPerSecond * answers.share, answers.burstSeconds);
  const spend = (limit: RateLimit) => (identity: string, tokens: number) =>
    limit.spend(identity, tokens, performance.now());
  return {
    /** Throws AUT_RATE_LIMITED for an identity that has exceeded its share. */
    check(identity: string): void {
      charge(time, identity, 'The requests of this caller took more than its share of time.');
      charge(bytes, identity, 'This caller has sent more than its share of bytes.');
      const says = 'The answers to this caller exceeded its share of bytes. Ask for pages.';
      charge(answered, identity, says);
    },
    spendMs: spend(time),
    spendBytes: spend(bytes),
    /** The bytes of a callback that answers a search: it is composed, digested, stored and sent here. Answers streamed from a file have separate limits. */
    spendAnswer: spend(answered),
  };
}
