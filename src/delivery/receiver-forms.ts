import type { Logger } from '../logger.ts';
import { LruCache } from '../lru-cache.ts';
import type { Queryable } from '../storage/database.ts';
import { findForms, forgetForm, rememberForm, type UnusualForm } from '../storage/work/receiver-forms.ts';

// Deployed receivers differ, and each is sent what it accepts (protocol decisions: callback chain, strict form):
//
//   signature   callbacks are signed over four lines, the last of which names the request that they answer; `plain` has three
//   body        messages have everything that was published; `strict` has what closed schemas name (rules/strict-form.ts)
//
// Which form works is learned from what a receiver accepts, never from what it refuses: a 401 may as well mean that our key is not
// registered yet. It is remembered for a day; then the usual form is tried first again.

export type ReceiverForms = ReturnType<typeof createReceiverForms>;

export const rememberFormMs = 24 * 3_600_000;
const cacheMs = 60_000;
const maxCached = 10_000;

export function createReceiverForms(queryable: Queryable, { logger, now }: { logger: Logger; now(): Date }) {
  const cache = new LruCache<string, { forms: ReadonlySet<UnusualForm>; until: number }>(maxCached);
  const keep = (receiver: string, forms: ReadonlySet<UnusualForm>) =>
    cache.keep(receiver, { forms, until: now().getTime() + cacheMs });

  async function find(receiver: string): Promise<ReadonlySet<UnusualForm>> {
    const cached = cache.find(receiver);
    if (cached && cached.until > now().getTime()) return cached.forms;
    const forms = await findForms(queryable, receiver, now());
    keep(receiver, forms);
    return forms;
  }

  async function learn(receiver: string, form: UnusualForm, isTaken: boolean): Promise<void> {
    logger.info({ receiver }, isTaken ? accepts[form] : acceptsAgain[form]);
    try {
      const others = [...(await find(receiver))].filter((known) => known !== form);
      keep(receiver, new Set(isTaken ? [...others, form] : others));
      const until = new Date(now().getTime() + rememberFormMs);
      if (isTaken) await rememberForm(queryable, receiver, form, until);
      else await forgetForm(queryable, receiver, form);
    } catch (error) {
      // The message is delivered, and must be recorded as such: the form is learned again with the next one.
      logger.warn({ receiver, form, err: error }, 'the form that the receiver accepts could not be stored');
    }
  }

  return {
    /** The forms that a receiver, an identity, is sent instead of the usual ones. */
    find,
    /** The receiver has refused the usual form and accepted this one. */
    remember: (receiver: string, form: UnusualForm) => learn(receiver, form, true),
    /** The receiver has refused this form and accepted the usual one. */
    forget: (receiver: string, form: UnusualForm) => learn(receiver, form, false),
  };
}

const accepts = {
  plain: 'the receiver accepts callbacks that are signed over three lines',
  strict: 'the receiver accepts messages in strict form only',
};
const acceptsAgain = {
  plain: 'the receiver accepts callbacks that are signed over four lines',
  strict: 'the receiver accepts messages as they were published',
};
