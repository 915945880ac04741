import type { Config } from '../config.ts';
import { charge, createRateLimit, ofThisProcess, type RateLimit, type ShareLimit } from './rate-limit.ts';

export type CostLimits = ReturnType<typeof createCostLimits>;

/** A bucket holds what comes back in this time. */
const burstSeconds = 30;
/** An answer is asked for by a few bytes, and a megabyte of it takes about 60 ms of the main thread, ten times as long as one that is received. */
const answers = { share: 1 / 8, burstSeconds: 2 };

/**
 * Limits what the requests of an identity cost in bytes and in milliseconds of the main thread; threads are shared by fair queueing (fair-turns.ts). A request is
 * charged when its cost is known, and the next one is refused until that is paid back. Nobody is exempt; each role counts separately.
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
    /** Throws AUT_RATE_LIMITED for an identity that has used more than its share. */
    check(identity: string): void {
      charge(time, identity, 'The requests of this caller took more than its share of time.');
      charge(bytes, identity, 'This caller has sent more than its share of bytes.');
      const says = 'The answers to this caller were more than its share of bytes. Ask for pages.';
      charge(answered, identity, says);
    },
    spendMs: spend(time),
    spendBytes: spend(bytes),
    /** The bytes of a callback that answers a search: it is put together, digested, stored and sent here. What is streamed from a file has limits of its own. */
    spendAnswer: spend(answered),
  };
}
