import { setImmediate as immediate } from 'node:timers/promises';
import { AnswerDraft, type AnswerPage, maxLimit, neededCount } from '../rules/discover/page-answer.ts';
import { type Candidates, gather, type Search } from './candidates.ts';
import { inBatches, keysBetween } from './documents/keys.ts';
import { readListed, SharedDocuments } from './documents/read-page.ts';
import { readPassing } from './filter/check-documents.ts';

/**
 * Reads the page that a request asked for: the found resources in their catalogs, with the offers that apply to them. The page is outdated when a
 * resource on it has changed since it was found: then one that the filter selects instead may be missing.
 */
export async function buildPage(
  search: Search,
  candidates: Candidates,
): Promise<{ answer: AnswerPage; isOutdated: boolean }> {
  const { paging } = search.plan;
  const { limit = maxLimit, offset = 0 } = paging;
  const needed = neededCount(paging);
  const page = new Page(search);
  let total = 0;
  for await (const keys of gather(candidates.keys, candidates.check ? needed * spare : needed)) {
    search.deadline.check();
    const { count } = await search.trace.time(
      'read page',
      async () => {
        const query = { keys, check: candidates.check };
        const passed = await readPassing(search.database, query, needed - total);
        const shown = Array.from(
          keysBetween(passed, Math.max(0, offset - total), Math.max(0, offset + limit - total)),
        );
        await search.beforePage?.(shown.length);
        return { count: passed.length, resources: await page.read(shown) };
      },
      ({ count, resources }) => ({ candidates: keys.length, passed: count, resources }),
    );
    if (!candidates.isSettled) search.count(keys.length, count);
    total += count;
    if (total >= needed) break;
  }
  return { answer: page.draft.finish(total, paging), isOutdated: page.isOutdated };
}

/** Resources that one statement reads. */
const documentsAtOnce = 300;
/** After a resource with more of them others get their turn. */
const manyOffers = 1_000;

/** The resources of an answer are read until it is full, so that no more large documents are in memory than it has room for. */
class Page {
  readonly draft = new AnswerDraft();
  isOutdated = false;
  private readonly documents = new SharedDocuments();
  private readonly search: Search;

  constructor(search: Search) {
    this.search = search;
  }

  /** Returns how many were read. */
  async read(keys: readonly number[]): Promise<number> {
    const { database, deadline, plan } = this.search;
    const { scope } = plan;
    let read = 0;
    for (let start = 0; start < keys.length && !this.draft.isFull; ) {
      deadline.check();
      const part = keysBetween(keys, start, start + this.draft.roomFor);
      const query = { scope, check: plan.filter?.checkBeside([]) };
      // While the database reads some, the process takes in others.
      const batches = [...inBatches(part, documentsAtOnce)];
      const listed = await Promise.all(
        batches.map((batch) => readListed(database, batch, query, this.documents)),
      );
      for (const [index, { found, read: tried }] of listed.entries()) {
        this.isOutdated ||= found.length < tried;
        for (const each of found) {
          this.draft.add([each]);
          if ((each.wide?.offers.length ?? 0) > manyOffers) await immediate();
        }
        start += tried;
        read += found.length;
        // Those that follow are read again.
        if (tried < (batches[index]?.length ?? 0)) break;
      }
    }
    return read;
  }
}

/** Of candidates that are not checked yet, so many more are read that the first ones are enough as a rule. */
const spare = 1.1;
