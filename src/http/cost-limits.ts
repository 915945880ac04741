import { charge, createRateLimit, ofThisProcess, type ShareLimit } from './rate-limit.ts';

/**
 * What the requests of an identity cost, beside their number: bytes, and milliseconds of the main thread, on which everybody is served. (Threads are
 * shared by fair queueing: fair-turns.ts.) The cost is known only afterwards, so a request is charged when its cost is known, and the next one is
 * refused until that is paid back. Nobody is exempt.
 */
export interface CostLimits {
  /** Throws AUT_RATE_LIMITED for an identity that has used more than its share. */
  check(identity: string): void;
  spendMs(identity: string, ms: number): void;
  spendBytes(identity: string, bytes: number): void;
  /** The bytes of a callback that answers a search: it is put together, digested, stored and sent here. What is streamed from a file has limits of its own. */
  spendAnswer(identity: string, bytes: number): void;
}

/** A bucket holds what comes back in this time. */
const burstSeconds = 30;
/** An answer is asked for by a few bytes, and a megabyte of it takes about 60 ms of the main thread, ten times as long as one that is received. */
const answers = { share: 1 / 8, burstSeconds: 2 };

export function createCostLimits(
  { msPerSecond, bytesPerSecond }: Record<'msPerSecond' | 'bytesPerSecond', number>,
  share: ShareLimit = ofThisProcess,
): CostLimits {
  const bucket = (name: string, perSecond: number, seconds = burstSeconds) =>
    share(name, createRateLimit({ perSecond, burst: perSecond * seconds }));
  const [time, bytes] = [bucket('time', msPerSecond), bucket('bytes', bytesPerSecond)];
  const answered = bucket('answers', bytesPerSecond * answers.share, answers.burstSeconds);
  return {
    check(identity) {
      charge(time, identity, 'The requests of this caller took more than its share of time.');
      charge(bytes, identity, 'This caller has sent more than its share of bytes.');
      const says = 'The answers to this caller were more than its share of bytes. Ask for pages.';
      charge(answered, identity, says);
    },
    spendMs: (identity, ms) => time.spend(identity, ms, performance.now()),
    spendBytes: (identity, count) => bytes.spend(identity, count, performance.now()),
    spendAnswer: (identity, count) => answered.spend(identity, count, performance.now()),
  };
}
