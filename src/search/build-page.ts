import { setImmediate as immediate } from 'node:timers/promises';
import { AnswerDraft, type AnswerPage, maxLimit, neededCount } from '../rules/discover/page-answer.ts';
import type { PageReader } from './documents/read-page.ts';
import type { Hit } from './hit.ts';
import type { Plan } from './plan.ts';
import type { Tools } from './tools.ts';

/** Hits, or the number of further hits. */
type Part = readonly Hit[] | number;

/** Offers of a resource: after more than these, other work gets a turn. */
const manyOffers = 1_000;

/**
 * Reads the requested page: the found resources in their catalogs, with the offers that apply to them. Counts the other resources at the same time.
 * `isOutdated`: a resource on the page has changed since it was found, so a resource that the filter selects now may be missing.
 */
export async function buildPage(
  { deadline, trace }: Tools,
  { paging, filter }: Plan,
  { hits, page }: { hits: AsyncIterable<Part>; page: PageReader },
  beforePage?: (resources: number) => Promise<void>,
): Promise<{ answer: AnswerPage; isOutdated: boolean }> {
  const { limit = maxLimit, offset = 0 } = paging;
  const needed = neededCount(paging);
  const draft = new AnswerDraft();
  let [counted, resources, isOutdated] = [0, 0, false];
  const work = async () => {
    let reading = Promise.resolve();
    for await (const some of hits) {
      if (typeof some === 'number') {
        counted = Math.min(needed, counted + some);
        break;
      }
      const part = some.slice(0, needed - counted);
      const shown = part.slice(Math.max(0, offset - counted), Math.max(0, offset + limit - counted));
      if (shown.length > 0) reading = reading.then(() => read(shown));
      // Its error is thrown below, unless another error occurs first.
      reading.catch(() => {});
      counted += part.length;
      if (counted >= needed) break;
    }
    await reading;
  };
  await trace.time('read page', work, () => ({ counted, resources }));
  return { answer: draft.finish(counted, paging), isOutdated };

  /** Reads the resources until the answer is full, to keep no more large documents in memory than fit into it. */
  async function read(shown: readonly Hit[]): Promise<void> {
    await beforePage?.(resources + shown.length);
    const byKey = new Map(shown.map((hit) => [hit.key, hit]));
    const keys = shown.map(({ key }) => key);
    for (let start = 0; start < keys.length && !draft.isFull; ) {
      deadline.check();
      const wanted = keys.slice(start, start + draft.roomFor);
      const part = await page.read(wanted, filter?.check);
      isOutdated ||= part.found.length < part.read;
      for (const { key, ...each } of part.found) {
        const { rank, distance } = byKey.get(key) ?? {};
        const standing = {
          ...(rank !== undefined && { rank }),
          ...(distance !== undefined && { distanceMeters: distance }),
        };
        draft.add([{ ...each, ranked: { ...each.ranked, ...standing } }]);
        if ((each.wide?.offers.length ?? 0) > manyOffers) await immediate();
      }
      start += part.read;
      resources += part.found.length;
    }
  }
}
