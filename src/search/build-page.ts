import { setImmediate as immediate } from 'node:timers/promises';
import { AnswerDraft, type AnswerPage, maxLimit, neededCount } from '../rules/discover/page-answer.ts';
import { readPage, SharedDocuments } from './documents/read-page.ts';
import type { Hit } from './hit.ts';
import type { Plan } from './plan.ts';
import { inBatches } from './set/sorted.ts';
import type { Tools } from './tools.ts';

/** Resources that one statement reads. */
const documentsAtOnce = 300;
/** Offers of a resource: after more, others get their turn. */
const manyOffers = 1_000;

type BeforePage = (resources: number) => Promise<void>;

export interface BuiltPage {
  answer: AnswerPage;
  /** A resource on it has changed since it was found: then one that the filter selects instead may be missing. */
  isOutdated: boolean;
}

/**
 * Reads the page that a request asked for: the found resources in their catalogs, with the offers that apply to them. The resources beyond it are counted at the same time.
 */
export async function buildPage(
  tools: Tools,
  plan: Plan,
  hits: AsyncIterable<readonly Hit[]>,
  beforePage?: BeforePage,
): Promise<BuiltPage> {
  const { limit = maxLimit, offset = 0 } = plan.paging;
  const needed = neededCount(plan.paging);
  const page = startPage(tools, plan, beforePage);
  let counted = 0;
  await tools.trace.time(
    'read page',
    async () => {
      let reading = Promise.resolve();
      for await (const some of hits) {
        const part = some.slice(0, needed - counted);
        const shown = part.slice(Math.max(0, offset - counted), Math.max(0, offset + limit - counted));
        if (shown.length > 0) reading = reading.then(() => page.read(shown));
        // Its error is thrown below, unless another one comes first.
        reading.catch(() => {});
        counted += part.length;
        if (counted >= needed) break;
      }
      await reading;
    },
    () => ({ counted, resources: page.resources }),
  );
  return { answer: page.draft.finish(counted, plan.paging), isOutdated: page.isOutdated };
}

/** The resources of an answer are read until it is full, so that no more large documents are in memory than it has room for. */
function startPage({ reader, deadline, scope }: Tools, { filter }: Plan, beforePage?: BeforePage) {
  const draft = new AnswerDraft();
  const documents = new SharedDocuments();
  const page = { draft, isOutdated: false, resources: 0, read };
  async function read(hits: readonly Hit[]): Promise<void> {
    await beforePage?.(page.resources + hits.length);
    const byKey = new Map(hits.map((hit) => [hit.key, hit]));
    const keys = hits.map(({ key }) => key);
    for (let start = 0; start < keys.length && !draft.isFull; ) {
      deadline.check();
      const query = { scope, check: filter?.check };
      // While the database reads some, the process takes in others.
      const batches = [...inBatches(keys.slice(start, start + draft.roomFor), documentsAtOnce)];
      const parts = await Promise.all(batches.map((batch) => readPage(reader, batch, query, documents)));
      for (const [index, { found, read: tried }] of parts.entries()) {
        page.isOutdated ||= found.length < tried;
        for (const { key, ...each } of found) {
          const { rank, distance } = byKey.get(key) ?? {};
          const standing = {
            ...(rank !== undefined && { rank }),
            ...(distance !== undefined && { distanceMeters: distance }),
          };
          draft.add([{ ...each, ranked: { ...each.ranked, ...standing } }]);
          if ((each.wide?.offers.length ?? 0) > manyOffers) await immediate();
        }
        start += tried;
        page.resources += found.length;
        // Those that follow are read again.
        if (tried < (batches[index]?.length ?? 0)) break;
      }
    }
  }
  return page;
}
