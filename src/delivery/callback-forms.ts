import type { Logger } from '../logger.ts';
import { LruCache } from '../lru-cache.ts';
import type { Queryable } from '../storage/database.ts';
import {
  forgetPlainReceiver,
  isPlainReceiver,
  rememberPlainReceiver,
} from '../storage/work/callback-forms.ts';

// A callback is signed over four lines, the last of which names the request that it answers. Some deployed receivers verify three lines only,
// or name the request otherwise, and answer 401 (protocol decision: callback chain). Which form a receiver takes is learned from what it
// accepts, never from what it refuses: a 401 may as well mean that our key is not registered yet.

export type CallbackForm = 'chained' | 'plain';

export interface CallbackForms {
  /** The form to begin with. */
  find(receiver: string): Promise<CallbackForm>;
  /** Call it when a receiver has accepted the other form than the one that it was sent first. */
  learn(receiver: string, accepted: CallbackForm): Promise<void>;
}

export const rememberFormMs = 24 * 3_600_000;
/** What other processes have learned is known here after this. */
const cacheMs = 60_000;
const maxCached = 10_000;

export function createCallbackForms(
  queryable: Queryable,
  { logger, now }: { logger: Logger; now(): Date },
): CallbackForms {
  const cache = new LruCache<string, { form: CallbackForm; until: number }>(maxCached);
  const keep = (receiver: string, form: CallbackForm) =>
    cache.keep(receiver, { form, until: now().getTime() + cacheMs });
  return {
    async find(receiver) {
      const cached = cache.find(receiver);
      if (cached && cached.until > now().getTime()) return cached.form;
      const form = (await isPlainReceiver(queryable, receiver, now())) ? 'plain' : 'chained';
      keep(receiver, form);
      return form;
    },
    async learn(receiver, accepted) {
      keep(receiver, accepted);
      const isPlain = accepted === 'plain';
      const lines = isPlain ? 'three' : 'four';
      logger.info({ receiver }, `the receiver takes callbacks that are signed over ${lines} lines`);
      try {
        if (!isPlain) await forgetPlainReceiver(queryable, receiver);
        else await rememberPlainReceiver(queryable, receiver, new Date(now().getTime() + rememberFormMs));
      } catch (error) {
        // The callback is delivered, and must be recorded as such: the form is learned again with the next one.
        logger.warn({ receiver, err: error }, 'which signature the receiver takes could not be remembered');
      }
    },
  };
}
