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
  beforePage?: (resources: number) => Promise<void>,
): Promise<BuiltPage> {
  const { limit = maxLimit, offset = 0 } = plan.paging;
  const needed = neededCount(plan.paging);
  const page = new Page(tools, plan, beforePage);
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
class Page {
  readonly draft = new AnswerDraft();
  isOutdated = false;
  /** How many were read. */
  resources = 0;
  private readonly documents = new SharedDocuments();
  private readonly tools: Tools;
  private readonly plan: Plan;
  private readonly beforePage: ((resources: number) => Promise<void>) | undefined;

  constructor(tools: Tools, plan: Plan, beforePage?: (resources: number) => Promise<void>) {
    this.tools = tools;
    this.plan = plan;
    this.beforePage = beforePage;
  }

  async read(hits: readonly Hit[]): Promise<void> {
    const { reader, deadline, scope } = this.tools;
    await this.beforePage?.(this.resources + hits.length);
    const byKey = new Map(hits.map((hit) => [hit.key, hit]));
    const keys = hits.map(({ key }) => key);
    for (let start = 0; start < keys.length && !this.draft.isFull; ) {
      deadline.check();
      const query = { scope, check: this.plan.filter?.check };
      // While the database reads some, the process takes in others.
      const batches = [...inBatches(keys.slice(start, start + this.draft.roomFor), documentsAtOnce)];
      const read = await Promise.all(batches.map((batch) => readPage(reader, batch, query, this.documents)));
      for (const [index, { found, read: tried }] of read.entries()) {
        this.isOutdated ||= found.length < tried;
        for (const { key, ...each } of found) {
          const { rank, distance } = byKey.get(key) ?? {};
          const standing = {
            ...(rank !== undefined && { rank }),
            ...(distance !== undefined && { distanceMeters: distance }),
          };
          this.draft.add([{ ...each, ranked: { ...each.ranked, ...standing } }]);
          if ((each.wide?.offers.length ?? 0) > manyOffers) await immediate();
        }
        start += tried;
        this.resources += found.length;
        // Those that follow are read again.
        if (tried < (batches[index]?.length ?? 0)) break;
      }
    }
  }
}
