import { setImmediate as immediate } from 'node:timers/promises';
import { AnswerDraft, type AnswerPage, maxLimit, neededCount } from '../rules/discover/page-answer.ts';
import type { PageReader } from './documents/read-page.ts';
import type { Hit } from './hit.ts';
import type { Plan } from './plan.ts';
import type { Tools } from './tools.ts';

/** Hits, or how many more there are. */
type Part = readonly Hit[] | number;

/** Offers of a resource: after more, others get their turn. */
const manyOffers = 1_000;

/**
 * Reads the page that a request asked for: the found resources in their catalogs, with the offers that apply to them. The resources beyond it are counted at the same time. `isOutdated`: a resource on
 * it has changed since it was found; then one that the filter selects instead may be missing.
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
      // Its error is thrown below, unless another one comes first.
      reading.catch(() => {});
      counted += part.length;
      if (counted >= needed) break;
    }
    await reading;
  };
  await trace.time('read page', work, () => ({ counted, resources }));
  return { answer: draft.finish(counted, paging), isOutdated };

  /** The resources of an answer are read until it is full, so that no more large documents are in memory than it has room for. */
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
